// Tests of live tails over HTTP.
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { newStoreUnavailable } from '../../../../../server/logging/store/store-errors.ts';
import { receivedBody } from '../../../../support/handler-server.ts';
import { LOGS, LogService, type LogServiceOptions, line } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../../support/logging/memory-log-store.ts';

/** Reads until the text contains `what`. */
async function readUntil(answer: IncomingMessage, what: string): Promise<string> {
  let seen = '';
  for await (const chunk of answer.iterator({ destroyOnReturn: false })) {
    seen += String(chunk);
    if (seen.includes(what)) return seen;
  }
  return seen;
}

describe('a live tail over HTTP', () => {
  let service: LogService;
  let store: MemoryLogStore;
  const serve = async (options: Partial<LogServiceOptions> = {}): Promise<void> => {
    store = new MemoryLogStore([line('2026-11-20T11:00:00.000000000Z', 'before')]);
    service = await new LogService({ store, ...options }).start();
  };
  const follow = (query = '', headers = {}) =>
    service.server.open(`${LOGS}?follow=true${query}`, { headers });
  afterEach(() => service.stop());

  it('sends each new line as one line of NDJSON', async () => {
    await serve();
    const answer = await follow('&log_query=news&highlight=true');
    expect(answer.headers['content-type']).to.equal('application/x-ndjson');
    store.write([
      line('2026-11-20T12:00:01.000000000Z', 'no match'),
      line('2026-11-20T12:00:02.000000000Z', 'news'),
    ]);
    const first: unknown = JSON.parse(await readUntil(answer, '\n'));
    const time = '2026-11-20T12:00:02.000000000Z';
    expect(first).to.deep.include({ log: 'news', time, highlights: [[0, 4]] });
    expect(first).to.have.property('id').that.is.a('string');
    answer.destroy();
  });

  it('is not cacheable or buffered by proxies', async () => {
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

  it('sends Server-Sent Events to clients that accept them', async () => {
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

  it('sends its start to an EventSource, so that a client without lines resumes there', async () => {
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

  it('resumes with an overlap for late lines', async () => {
    await serve();
    store.write([
      line('2026-11-20T11:30:00.000000000Z', 'long ago'),
      line('2026-11-20T11:59:58.500000000Z', 'late'),
      line('2026-11-20T12:00:00.000000001Z', 'seen'),
      line('2026-11-20T12:00:05.000000000Z', 'missed'),
    ]);
    for (const query of ['', '&start_time=1795170000']) {
      const resumed = { Accept: 'text/event-stream', 'Last-Event-ID': '2026-11-20T12:00:00.000000001Z' };
      const answer = await follow(query, resumed);
      const seen = (await readUntil(answer, 'missed')).matchAll(/"log":"([a-z ]+)"/g);
      expect(Array.from(seen, ([, log]) => log)).to.deep.equal(['late', 'seen', 'missed']);
      answer.destroy();
    }
  });

  it('begins at start_time if that is later than Last-Event-ID', async () => {
    await serve();
    store.write([line('2026-11-20T10:10:00.000000000Z', 'too early')]);
    // 10:20.
    const answer = await follow('&start_time=1795170000', {
      'Last-Event-ID': '2026-11-20T10:00:00.000000000Z',
    });
    expect(await readUntil(answer, 'before')).not.to.include('too early');
    answer.destroy();
  });

  it('rejects an invalid Last-Event-ID', async () => {
    await serve();
    for (const id of [
      ...['5', '2026-11-20T12:00:00Z', '2026-13-20T12:00:00.000000000Z', '2026-02-30T10:00:00.000000000Z'],
      ...['2026-11-20T24:00:00.000000000Z', '9999-11-20T12:00:00.000000000Z', 'x'.repeat(5_000)],
    ]) {
      const { status, body } = await service.ask('follow=true', { 'Last-Event-ID': id });
      expect(status, id).to.equal(400);
      expect(body.toString()).to.include('Last-Event-ID: ');
    }
    const empty = await follow('', { 'Last-Event-ID': '' });
    expect(empty.statusCode).to.equal(200);
    empty.destroy();
  });

  it('ends in order at its time limit', async () => {
    await serve({ limits: { followTimeout: 400 } });
    expect((await service.ask('follow=true')).body.toString()).to.equal('');
  });

  it('is an ordinary error when the store is unavailable at the start, and reports a later failure', async () => {
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
    const answer = receivedBody(await follow());
    fail.reject(newStoreUnavailable('memory', new Error('10.0.0.1')));
    const message = 'the log store memory is unavailable; try again later';
    expect(JSON.parse((await answer).body.toString())).to.deep.equal({
      error: { reason: 'StoreFailed', message },
    });
    expect((await service.ask('follow=true')).status).to.equal(503);
  });

  it('stays open without lines for a caller without permissions', async () => {
    await serve({ limits: { followTimeout: 400 }, allowed: () => false });
    expect((await service.ask('follow=true')).body.toString()).to.equal('');
  });
});
