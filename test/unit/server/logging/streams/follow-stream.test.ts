import { createHook } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { newStoreUnavailable } from '../../../../../server/logging/store-errors.ts';
import { LOGS, LogService, type LogServiceOptions, line } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../../support/logging/memory-log-store.ts';
import { until } from '../../../../support/until.ts';

/** Reads text until it holds `what`. */
async function readUntil(answer: IncomingMessage, what: string): Promise<string> {
  let seen = '';
  for await (const chunk of answer.iterator({ destroyOnReturn: false })) {
    seen += String(chunk);
    if (seen.includes(what)) return seen;
  }
  return seen;
}

async function rest(answer: IncomingMessage): Promise<string> {
  let seen = '';
  for await (const chunk of answer) seen += String(chunk);
  return seen;
}

describe('following logs', () => {
  let service: LogService;
  let store: MemoryLogStore;
  const serve = async (options: Partial<LogServiceOptions> = {}): Promise<void> => {
    store = new MemoryLogStore([line('2026-11-20T11:00:00.000000000Z', 'before')]);
    service = await new LogService({ store, ...options }).start();
  };
  const follow = (query = '', headers = {}) =>
    service.server.open(`${LOGS}?follow=true${query}`, { headers });
  afterEach(() => service.stop());

  it('is each line as it comes, one JSON document a line', async () => {
    await serve();
    const answer = await follow('&log_query=news&highlight=true');
    expect(answer.headers['content-type']).to.equal('application/x-ndjson');
    store.write([
      line('2026-11-20T12:00:01.000000000Z', 'no match'),
      line('2026-11-20T12:00:02.000000000Z', 'news'),
    ]);
    const { id, ...first } = JSON.parse(await readUntil(answer, '\n')) as Record<string, unknown>;
    expect(id).to.be.a('string');
    expect(first).to.deep.include({
      log: 'news',
      time: '2026-11-20T12:00:02.000000000Z',
      highlights: [[0, 4]],
    });
    answer.destroy();
  });

  it('is nothing to keep, to guess at, or to hold back', async () => {
    await serve();
    const answer = await follow();
    answer.destroy();
    expect(answer.headers).to.include({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-accel-buffering': 'no',
      vary: 'Accept, Origin',
    });
  });

  it('begins earlier when a start is given', async () => {
    await serve();
    const answer = await follow('&start_time=1795170000');
    expect(await readUntil(answer, '\n')).to.include('before');
    answer.destroy();
  });

  it('is Server-Sent Events for who accepts those', async () => {
    await serve();
    const answer = await follow('&start_time=1795175940', { Accept: 'text/event-stream' });
    expect(answer.headers['content-type']).to.equal('text/event-stream');
    await readUntil(answer, '\n\n');
    store.write([line('2026-11-20T12:00:00.000000000Z', 'two\nlines')]);
    expect(await readUntil(answer, '\n\n')).to.match(
      /^id: 2026-11-20T12:00:00\.000000000Z\ndata: \{"log":"two\\nlines".*\}\n\n$/,
    );
    answer.destroy();
  });

  it('is NDJSON for who accepts other texts, as a browser that opens its address', async () => {
    await serve();
    const answer = await follow('', { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    answer.destroy();
    expect(answer.headers['content-type']).to.equal('application/x-ndjson');
  });

  it('tells an EventSource where it begins, so that one that has seen no line loses none', async () => {
    await serve();
    for (const query of ['', '&start_time=1795176000']) {
      const answer = await follow(query, { Accept: 'text/event-stream' });
      const opening = await readUntil(answer, '\n\n');
      answer.destroy();
      const id = '2026-11-20T12:00:02.000000000Z';
      expect(opening).to.equal(`event: position\nid: ${id}\ndata: {"time":"${id}"}\n\n`);
    }
    store.write([
      line('2026-11-20T11:59:59.999999999Z', 'too early'),
      line('2026-11-20T12:00:00.000000000Z', 'missed'),
    ]);
    const answer = await follow('', {
      Accept: 'text/event-stream',
      'Last-Event-ID': '2026-11-20T12:00:02.000000000Z',
    });
    expect(await readUntil(answer, 'missed'))
      .to.include('id: 2026-11-20T12:00:02.000000000Z\n')
      .not.include('too early');
    answer.destroy();
  });

  it('does not let an EventSource go on behind a line whose clock is ahead', async () => {
    await serve();
    const answer = await follow('&start_time=1795175940', { Accept: 'text/event-stream' });
    await readUntil(answer, '\n\n');
    store.write([line('2026-11-20T13:00:00.000000000Z', 'ahead')]);
    expect(await readUntil(answer, 'ahead')).to.include('id: 2026-11-20T12:00:00.000000000Z\n');
    answer.destroy();
  });

  it('shows an EventSource that comes back nothing from before its beginning', async () => {
    await serve();
    const answer = await follow('', { Accept: 'text/event-stream' });
    await readUntil(answer, '\n\n');
    store.write([line('2026-11-20T12:00:00.000000000Z', 'first')]);
    const [, id = ''] = /^id: (.*)$/m.exec(await readUntil(answer, 'first')) ?? [];
    answer.destroy();
    store.write([
      line('2026-11-20T11:59:59.999999999Z', 'too early'),
      line('2026-11-20T12:00:00.000000001Z', 'meanwhile'),
    ]);
    const again = await follow('', { Accept: 'text/event-stream', 'Last-Event-ID': id });
    expect(await readUntil(again, 'meanwhile'))
      .to.include('first')
      .and.not.include('too early');
    again.destroy();
  });

  it('goes on where an EventSource was that comes back, with what may have come late', async () => {
    await serve();
    store.write([
      line('2026-11-20T11:30:00.000000000Z', 'long ago'),
      line('2026-11-20T11:59:58.500000000Z', 'late'),
      line('2026-11-20T12:00:00.000000001Z', 'seen'),
      line('2026-11-20T12:00:05.000000000Z', 'missed'),
    ]);
    for (const query of ['', '&start_time=1795170000']) {
      const answer = await follow(query, {
        Accept: 'text/event-stream',
        'Last-Event-ID': '2026-11-20T12:00:00.000000001Z',
      });
      const seen = await readUntil(answer, 'missed');
      expect(seen.match(/"log":"[a-z ]+"/g)).to.deep.equal([
        '"log":"late"',
        '"log":"seen"',
        '"log":"missed"',
      ]);
      answer.destroy();
    }
  });

  it('goes on so far before where an EventSource was as the configuration says', async () => {
    await serve({ limits: { followOverlap: 15_000 } });
    store.write([
      line('2026-11-20T11:59:44.000000000Z', 'too late'),
      line('2026-11-20T11:59:46.000000000Z', 'late'),
      line('2026-11-20T12:00:00.000000000Z', 'seen'),
    ]);
    const answer = await follow('', {
      Accept: 'text/event-stream',
      'Last-Event-ID': '2026-11-20T12:00:00.000000000Z',
    });
    const seen = await readUntil(answer, 'seen');
    answer.destroy();
    expect(seen.match(/"log":"[a-z ]+"/g)).to.deep.equal(['"log":"late"', '"log":"seen"']);
  });

  it('begins where it was asked to when that is later than what an EventSource has seen', async () => {
    await serve();
    store.write([line('2026-11-20T10:10:00.000000000Z', 'too early')]);
    // 10:20.
    const answer = await follow('&start_time=1795170000', {
      'Last-Event-ID': '2026-11-20T10:00:00.000000000Z',
    });
    expect(await readUntil(answer, 'before'))
      .to.include('before')
      .and.not.include('too early');
    answer.destroy();
  });

  it('refuses the id of an event that is none of its own', async () => {
    await serve();
    for (const id of [
      '5',
      '2026-11-20T12:00:00Z',
      '2026-13-20T12:00:00.000000000Z',
      '9999-11-20T12:00:00.000000000Z',
      'x'.repeat(5_000),
    ]) {
      const { status, body } = await service.ask('follow=true', { 'Last-Event-ID': id });
      expect(status, id).to.equal(400);
      expect(body.toString()).to.include('Last-Event-ID: ');
    }
    const empty = await follow('', { 'Last-Event-ID': '' });
    expect(empty.statusCode).to.equal(200);
    empty.destroy();
  });

  it('ends whole when the time is over', async () => {
    await serve({ limits: { followTimeout: 400 } });
    expect(await rest(await follow())).to.equal('');
  });

  it('ends whole when the server stops', async () => {
    await serve();
    const answer = await follow();
    service.server.abort();
    expect(await rest(answer)).to.equal('');
  });

  it('ends the work of the store when the caller leaves', async () => {
    const ended = Promise.withResolvers<void>();
    await serve({
      store: Object.assign(new MemoryLogStore([]), {
        async *follow(_selection: unknown, { signal }: { signal: AbortSignal }) {
          yield [];
          signal.addEventListener('abort', () => ended.resolve());
          await ended.promise;
        },
      }),
    });
    const answer = await follow();
    answer.destroy();
    await ended.promise;
  });

  it('leaves no timer behind when the caller leaves', async () => {
    const timers = new Set<number>();
    const hook = createHook({
      init: (id, type) => void (type === 'Timeout' && timers.add(id)),
      destroy: (id) => timers.delete(id),
    }).enable();
    try {
      await serve();
      for (let tails = 0; tails < 20; tails++) {
        (await follow('&start_time=1795170000')).destroy();
        await until(async () => !/in_flight\S* [1-9]/.test(await service.registry.metrics()));
      }
      await new Promise(setImmediate);
      // Those of sockets come and go.
      expect(timers.size).to.be.below(10);
    } finally {
      hook.disable();
    }
  });

  it('is refused like every query when the store is down', async () => {
    await serve({
      store: Object.assign(new MemoryLogStore([]), {
        // oxlint-disable-next-line require-yield -- it fails before the first line
        async *follow() {
          throw newStoreUnavailable('memory', new Error('down'));
        },
      }),
    });
    expect((await service.ask('follow=true')).status).to.equal(503);
  });

  it('says why when the store fails later', async () => {
    const fail = Promise.withResolvers<never>();
    fail.promise.catch(() => undefined);
    await serve({
      store: Object.assign(new MemoryLogStore([]), {
        // oxlint-disable-next-line require-yield -- it fails before the first line
        async *follow() {
          await fail.promise;
        },
      }),
    });
    const answer = await follow();
    fail.reject(newStoreUnavailable('memory', new Error('10.0.0.1')));
    expect(JSON.parse(await rest(answer))).to.deep.equal({
      error: {
        reason: 'StoreFailed',
        message: 'the log store memory is unavailable; try again later',
      },
    });
  });

  it('is open to a number of callers', async () => {
    await serve({ limits: { concurrentFollowers: 1 } });
    const answer = await follow();
    expect((await service.ask('follow=true')).status).to.equal(429);
    answer.destroy();
  });

  it('waits quietly for a caller who may see nothing', async () => {
    await serve({ limits: { followTimeout: 400 }, allowed: () => false });
    expect(await rest(await follow())).to.equal('');
  });
});
