// Conformance tests of log stores: failures of the backend server. A log store must never return an incomplete result
// as complete.
import { expect } from 'chai';
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import type { LogRecord as StoredRecord } from '../../../hack/log-stores/record.ts';
import type { Call, LogBackend, LogRecord, Selection } from '../../../server/logging/store/log-store.ts';
import { type Fault, type FaultyProxy, STORE_SECRET } from '../../support/cluster/faulty-proxy.ts';
import { fault } from '../../support/faults.ts';
import { call } from '../../support/logging/call.ts';
import { MemoryLogStore, toLogRecord } from '../../support/logging/memory-log-store.ts';
import { rejection } from '../../support/rejection.ts';
import { collect } from './collect.ts';
import { expectStatus } from './comparison.ts';
import { EVERYTHING, later } from './subject.ts';

interface StartedBehindFront {
  /** Connected through `proxy` only. */
  readonly store: LogBackend;
  readonly proxy: FaultyProxy;
  readonly records: readonly StoredRecord[];
  write(records: readonly StoredRecord[]): Promise<void>;
  stop(): Promise<void>;
}

interface FaultTraits {
  /** Adds a failed shard to a response, for stores that report failed shards. */
  readonly shardFailed?: (text: string, path: string) => string;
  /** False if the proxy does not break the requests of the health check. */
  readonly checked?: boolean;
}

const FAULTS: readonly (readonly [what: string, fault: Fault])[] = [
  ['ends its responses too early', 'truncate'],
  ['responds with HTML', 'garbage'],
  ['responds with nonsense', 'nonsense'],
  ['responds with 500', { status: 500 }],
  ['responds with 429', { status: 429 }],
  ['responds with 401', { status: 401 }],
  ['responds with 404', { status: 404 }],
];

export function describeLogStoreFaults(
  name: string,
  start: (test: Mocha.Context) => Promise<StartedBehindFront>,
  traits: FaultTraits = {},
): void {
  describe(`${name}, with failures behind it`, () => {
    let started: StartedBehindFront | undefined;
    let oracle = new MemoryLogStore([]);
    let selected: Selection = { scope: EVERYTHING, range: { start: '', end: '' } };

    before(async function () {
      this.timeout(300_000);
      started = await start(this);
      oracle = new MemoryLogStore(started.records);
      const [first, last] = [oracle.records[0]?.time ?? '', oracle.records.at(-1)?.time ?? ''];
      selected = { scope: EVERYTHING, range: { start: first, end: later(last, 1) } };
    });

    after(async () => {
      await started?.stop();
    });

    afterEach(async () => {
      started?.proxy.break(undefined);
      started?.proxy.cut();
    });

    const the = () => {
      if (started === undefined) throw new Error('the store has not started');
      return started;
    };
    const operations = (by: Call): readonly (() => Promise<Outcome>)[] => {
      const { store } = the();
      const [begin, end] = [Date.parse(selected.range.start), Date.parse(selected.range.end) + 1_000];
      return [
        async () => {
          const { records, shortfalls } = await store.query(
            selected,
            { order: 'asc', size: 100, from: 0 },
            by,
          );
          const expected = await oracle.query(selected, { order: 'asc', size: 100, from: 0 }, call());
          return { right: sameTimes(records, expected.records), shortfalls };
        },
        async () => {
          const { logs, shortfalls } = await store.statistics(selected, by);
          return { right: logs.count === (await oracle.statistics(selected, call())).logs.count, shortfalls };
        },
        async () => {
          const buckets = { edges: [begin, Math.floor((begin + end) / 2), end] };
          const { counts, shortfalls } = await store.histogram(selected, buckets, by);
          const expected = await oracle.histogram(selected, buckets, call());
          return { right: counts.join() === expected.counts.join(), shortfalls };
        },
        async () => {
          const batches = store.export(selected, 'asc', by);
          let lines = 0;
          for (;;) {
            const { done, value } = await batches.next();
            if (done === true)
              return { right: lines === oracle.records.length, shortfalls: value.shortfalls };
            lines += value.length;
          }
        },
      ];
    };
    /** All four operations return correct results. */
    const works = async () => {
      for (const operation of operations(call())) {
        expect(await operation()).to.deep.equal({ right: true, shortfalls: [] });
      }
      await the().store.check(call());
    };

    it('works without failures', works);

    async function reports(injected: Fault): Promise<void> {
      the().proxy.break(injected);
      for (const [index, operation] of operations(call(undefined, 5_000)).entries()) {
        const outcome = await operation().catch((error: unknown) => error);
        expectHonest(outcome, `operation ${index}`);
      }
      if (traits.checked !== false) {
        const checking = the().store.check(call(undefined, 5_000));
        expect(await checking.catch((error: unknown) => error), 'its health').to.be.an('error');
      }
      the().proxy.break(undefined);
    }

    fault('the log store is down', async (recovers) => {
      await reports('refuse');
      await recovers(() => works().then(() => true));
    });

    fault('the log store truncates its responses', async (recovers) => {
      await reports('cut');
      await recovers(() => works().then(() => true));
    });

    for (const [what, injected] of FAULTS) {
      it(`reports it when the store ${what}, and recovers`, async () => {
        await reports(injected);
        await works();
      });
    }

    it('ends at its timeout when the store does not respond', async () => {
      the().proxy.break('hang');
      for (const index of [0, 1, 2, 3]) {
        const operation = operations(call(AbortSignal.timeout(5_000), 400))[index];
        const outcome = await operation?.().catch((error: unknown) => error);
        expectHonest(outcome, `operation ${index}`);
        if (outcome instanceof StatusError) expectStatus(outcome, 503, 504);
      }
      if (traits.checked !== false) {
        await rejection(the().store.check(call(undefined, 400)));
      }
      await the().proxy.untilIdle();
      the().proxy.break(undefined);
      await works();
    });

    it('sends no more requests after an abort', async () => {
      for (const index of [0, 1, 2, 3]) {
        the().proxy.break('hang');
        const leaving = new AbortController();
        const operation = operations(call(leaving.signal))[index];
        const outcome = operation?.().catch((error: unknown) => error);
        await the().proxy.untilAsked();
        leaving.abort(new Error('the caller has disconnected'));
        expect(await outcome).to.be.an('error');
        await the().proxy.untilIdle();
      }
      the().proxy.break(undefined);
      await works();
    });

    it('sends no more requests after an abandoned export', async () => {
      const batches = the().store.export(selected, 'desc', call());
      await batches.next();
      await batches.return({ shortfalls: [] });
      await the().proxy.untilIdle();
    });

    const { shardFailed } = traits;
    if (shardFailed !== undefined) {
      it('returns a partial result when one shard failed', async () => {
        the().proxy.break({ rewrite: shardFailed });
        for (const operation of operations(call())) {
          const outcome = await operation().catch((error: unknown) => error);
          if (outcome instanceof Error) expectStatus(outcome, 503);
          else expect(outcome).to.have.nested.property('shortfalls[0].reason', 'ShardFailed');
        }
      });
    }

    it('continues a live tail after its connections were closed', async () => {
      const { store, proxy } = the();
      const sample = oracle.records.at(-1);
      if (sample === undefined) throw new Error('there are no records');
      const leaving = new AbortController();
      const start = new Date().toISOString().replace('Z', '000000Z');
      const lines = store.follow(
        { scope: EVERYTHING, range: { start, end: start } },
        { signal: leaving.signal },
      );
      const arrived: LogRecord[] = [];
      const expected: LogRecord[] = [];
      // After one response: a store that was never available fails immediately.
      for (const round of [0, 1, 2, 3]) {
        const time = new Date().toISOString().replace('Z', `00000${round}Z`);
        const written = [{ ...sample, time, log: `after the cut ${round}` }];
        expected.push(...written.map(toLogRecord));
        const reading = collect(lines, arrived, expected.length);
        if (round > 0) {
          await proxy.untilAsked();
          proxy.cut();
        }
        await the().write(written);
        await reading;
      }
      expect(arrived.map(({ log }) => log)).to.deep.equal(expected.map(({ log }) => log));
      leaving.abort();
      expect((await lines.next()).done).to.equal(true);
    });
  });
}

interface Outcome {
  readonly right: boolean;
  readonly shortfalls: readonly { readonly reason: string; readonly message: string }[];
}

/** Accepts a public error without internal text, or a partial result. */
function expectHonest(outcome: unknown, what: string): void {
  const shown = outcome instanceof StatusError ? JSON.stringify(outcome.toStatus()) : JSON.stringify(outcome);
  expect(shown, `${what} contains text of the store's response`).not.to.include(STORE_SECRET);
  expect(shown, `${what} contains the address of the store`).not.to.include('127.0.0.1');
  if (outcome instanceof Error) {
    expectStatus(outcome, 503, 504);
    return;
  }
  expect(outcome, `${what} returned a complete result`)
    .to.have.property('shortfalls')
    .that.satisfies((shortfalls: unknown) => Array.isArray(shortfalls) && shortfalls.length > 0);
}

function sameTimes(found: readonly LogRecord[], expected: readonly LogRecord[]): boolean {
  const times = (records: readonly LogRecord[]) => records.map(({ time }) => time.slice(0, 23)).join();
  return times(found) === times(expected);
}
