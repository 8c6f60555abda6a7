// Tests of the end of exports and live tails, for example after a change of permissions.
import { once } from 'node:events';
import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { isExpired, newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { GONE } from '../../../../../server/http/stream-body.ts';
import { BEGINNING } from '../../../../../server/logging/store/instant.ts';
import type { ExportBatches, Scope, Selection } from '../../../../../server/logging/store/log-store.ts';
import { newNotSupported } from '../../../../../server/logging/store/store-errors.ts';
import { type ExportRequest, writeExport } from '../../../../../server/logging/streams/export-stream.ts';
import {
  type FollowOptions,
  type FollowRequest,
  writeFollowed,
} from '../../../../../server/logging/streams/follow-stream.ts';
import { HandlerServer, receivedBody } from '../../../../support/handler-server.ts';
import { line } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore, toLogRecord } from '../../../../support/logging/memory-log-store.ts';

const LATER = '2026-11-20T10:00:00.000000000Z';
const record = (log: string) => toLogRecord(line(LATER, log));

function queryOf(parameters: string) {
  return newLogQueryDecoder().decode(new URLSearchParams(parameters));
}

function seeing(scope: Scope): Selection {
  return { scope, range: { start: BEGINNING, end: LATER } };
}

const namespaces = (...names: string[]): Selection =>
  seeing({ everything: false, namespaces: names.map((name) => ({ name, since: BEGINNING })) });
const everything = seeing({ everything: true });
const shop = namespaces('shop');

describe('an export with permissions that change', () => {
  const query = queryOf('operation=export&format=ndjson');

  /**
   * `now`: the selection at the nth review, from 1 on. The lines end after `enough` reviews; the store ignores the signal.
   * Resolves with the last line and the failure.
   */
  const exported = async (
    selection: Selection | undefined,
    now: (look: number) => Promise<Selection | undefined>,
    enough = Number.POSITIVE_INFINITY,
  ) => {
    let looks = 0;
    let failure: unknown;
    const currentSelection: ExportRequest['currentSelection'] = () => now(++looks);
    const store = {
      async *export(): ExportBatches {
        for (; ; await new Promise((resolve) => setImmediate(resolve))) {
          if (looks >= enough) return { shortfalls: [] };
          yield [record('x')];
        }
      },
    };
    await using server = await new HandlerServer(async (context) => {
      await writeExport(
        context,
        { query, selection, currentSelection, call: { signal: context.signal, timeoutMs: 60_000 } },
        {
          store,
          slicer: new TimeSlicer(),
          maxLines: 1_000_000,
          streamed: () => undefined,
          now: Date.now,
          reviewMs: 5,
        },
      ).catch((error: unknown) => {
        failure = error;
      });
    }).start();
    const { body } = await receivedBody(await server.open('/'));
    const last: unknown = JSON.parse(body.toString().trimEnd().split('\n').at(-1) ?? '');
    return { last, failure, looks };
  };

  it('ends with ScopeChanged when it loses a permission', async () => {
    for (const [begun, now] of [
      [shop, undefined],
      [shop, namespaces('bank')],
      [namespaces('bank', 'shop'), shop],
      [shop, seeing({ everything: false, namespaces: [{ name: 'shop', since: LATER }] })],
      [everything, shop],
    ] as const) {
      const { last, failure } = await exported(begun, async () => now);
      expect(last).to.deep.equal({
        error: { reason: 'ScopeChanged', message: 'your permissions have changed; repeat the request' },
      });
      expect(failure).to.satisfy(isExpired);
    }
  });

  it('continues with the same or more permissions', async () => {
    for (const [begun, now] of [
      [shop, shop],
      [shop, namespaces('bank', 'shop')],
      [shop, everything],
      [everything, everything],
    ] as const) {
      const { last, failure, looks } = await exported(begun, async () => now, 3);
      expect(last).to.deep.equal(record('x'));
      expect([failure, looks]).to.deep.equal([undefined, 3]);
    }
  });

  it('tolerates a short outage of the cluster, and ends after a longer one', async () => {
    const away = () => Promise.reject(newServiceUnavailable('the cluster did not respond'));
    const back = await exported(shop, (look) => (look % 5 === 0 ? Promise.resolve(shop) : away()), 11);
    expect([back.last, back.failure]).to.deep.equal([record('x'), undefined]);
    const { last, looks } = await exported(shop, away);
    expect(last).to.deep.equal({
      error: { reason: 'StoreFailed', message: 'the cluster did not respond' },
    });
    expect(looks).to.equal(5);
  });
});

describe('a live tail', () => {
  const query = queryOf('follow=true');
  let server: HandlerServer;
  afterEach(() => server.close());

  /** `ended`: the error with which the tail ends, or `whole`. The permissions do not change by default. */
  const serve = async (options: Partial<FollowOptions> = {}, request: Partial<FollowRequest> = {}) => {
    const { promise: ended, resolve } = Promise.withResolvers<unknown>();
    server = await new HandlerServer(async (context) => {
      const { signal } = context;
      await writeFollowed(
        context,
        { query, selection: shop, currentSelection: async () => shop, start: BEGINNING, signal, ...request },
        {
          store: new MemoryLogStore([]),
          slicer: new TimeSlicer(),
          streamed: () => undefined,
          overlapMs: 2_000,
          now: Date.now,
          monotonic: () => performance.now(),
          ...options,
        },
      ).then(() => resolve('whole'), resolve);
    }).start();
    return { ended };
  };
  const linesOf = async (): Promise<string[]> => (await server.ask('/')).body.toString().split('\n');

  for (const [what, selection] of [
    ['loses all permissions', undefined],
    ['loses a permission', namespaces()],
    ['gains a permission', namespaces('shop', 'bank')],
  ] as const) {
    it(`ends with ScopeChanged when the caller ${what}`, async () => {
      const { ended } = await serve({ reviewMs: 5 }, { currentSelection: async () => selection });
      const message = 'your permissions have changed; repeat the request';
      const error = JSON.stringify({ error: { reason: 'ScopeChanged', message } });
      expect(await linesOf()).to.deep.equal([error, '']);
      expect(await ended).to.satisfy(isExpired);
    });
  }

  it('ends with Limit when it exceeds a limit of the store', async () => {
    await serve({
      store: {
        async *follow() {
          yield [record('one')];
          throw newNotSupported('kubernetes', 'follow', 'select fewer');
        },
      },
    });
    const [, error = ''] = await linesOf();
    expect(JSON.parse(error)).to.have.nested.property('error.reason', 'Limit');
    expect(error).to.include('select fewer');
  });

  it('ends without a message when the store ends', async () => {
    const { ended } = await serve({
      store: {
        async *follow() {
          yield [record('one')];
        },
      },
    });
    const [one, rest] = await linesOf();
    expect(one).to.include('{"log":"one"');
    expect([rest, await ended]).to.deep.equal(['', 'whole']);
  });

  it('sends heartbeats without lines', async () => {
    await serve({ heartbeatMs: 5, reviewMs: 5 });
    const answer = await server.open('/');
    const [beat] = (await once(answer, 'data')) as [Buffer];
    expect(beat.toString()).to.equal('\n');
    answer.destroy();
  });

  it('sends positions to an EventSource without lines', async () => {
    let now = Date.parse('2026-11-20T12:00:00Z');
    const clocks = { now: () => now, monotonic: () => now };
    await serve({ heartbeatMs: 5, ...clocks }, { start: '2026-11-20T12:00:00.000000000Z' });
    const answer = await server.open('/', { headers: { Accept: 'text/event-stream' } });
    const ids: string[] = [];
    for await (const chunk of answer) {
      // A heartbeat without a position may come in between.
      const [, id] = /^id: (.*)$/m.exec(String(chunk)) ?? [];
      if (id === undefined) continue;
      now += 3_600_000;
      if (ids.push(id.slice(11, 19)) === 3) break;
    }
    expect(ids).to.deep.equal(['12:00:02', '12:50:02', '13:50:02']);
  });

  /** Long lines without an end. The store ignores the signal. */
  const endless = (count: (batches: number) => void, ended = () => {}) => ({
    async *follow() {
      try {
        for (let batches = 1; ; batches++) {
          count(batches);
          yield [record('x'.repeat(100_000))];
        }
      } finally {
        ended();
      }
    },
  });

  it('reads the store at the pace of the reader, and closes the connection of a stalled reader', async () => {
    let read = 0;
    const { ended } = await serve({ store: endless((batches) => (read = batches)), stallMs: 50 });
    const answer = await server.open('/');
    expect(await ended).to.have.property('name', 'AbortError');
    expect(read).to.be.below(400);
    answer.destroy();
  });

  it('ends in the store when the reader disconnects while lines are written', async () => {
    const [begun, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const store = endless((batches) => batches > 20 && begun.resolve(), stopped.resolve);
    const { ended } = await serve({ store });
    const answer = await server.open('/');
    await begun.promise;
    answer.destroy();
    await stopped.promise;
    expect(await ended).to.equal(GONE);
  });
});
