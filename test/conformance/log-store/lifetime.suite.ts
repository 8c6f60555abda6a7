// Conformance tests of log stores: live tails, aborted calls and timed-out calls.
import { expect } from 'chai';
import type { LogRecord as StoredRecord } from '../../../hack/log-stores/record.ts';
import type { Batches, Call, LogRecord } from '../../../server/logging/store/log-store.ts';
import { call } from '../../support/logging/call.ts';
import { toLogRecord } from '../../support/logging/memory-log-store.ts';
import { collect } from './collect.ts';
import { expectStatus } from './comparison.ts';
import { ALWAYS, milliseconds, type Subject, selection, wholeMillisecond } from './subject.ts';

/** Ends of calls (abort, timeout, abandoned iteration), and live tails. */
export function describeLifetime(subject: () => Subject): void {
  describe('calls', () => {
    it('fail immediately when they are already aborted', async () => {
      const { compare } = subject();
      const gone = call(AbortSignal.abort());
      const selected = selection(subject());
      const [begin, end] = [milliseconds(selected.range.start), milliseconds(selected.range.end)];
      const outcomes = await Promise.allSettled([
        compare.store.query(selected, { order: 'asc', size: 10, from: 0 }, gone),
        compare.store.statistics(selected, gone),
        compare.store.histogram(selected, { edges: [begin, end] }, gone),
        compare.store.export(selected, 'asc', gone).next(),
      ]);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(Array(4).fill('rejected'));
    });

    it('never complete an aborted export', async () => {
      const { compare, records } = subject();
      const leaving = new AbortController();
      const batches = compare.store.export(selection(subject()), 'asc', call(leaving.signal));
      const first = await batches.next();
      leaving.abort();
      let lines = first.done === true ? 0 : first.value.length;
      try {
        for (;;) {
          const { done, value } = await batches.next();
          if (done === true) {
            expect(
              lines < records.length && value.shortfalls.length === 0,
              'a cut export that looks whole',
            ).to.equal(false);
            break;
          }
          lines += value.length;
        }
      } catch {
        // The expected failure.
      }
      expect((await batches.next()).done).to.equal(true);
    });

    it('end an export whose iteration is abandoned', async () => {
      const { compare } = subject();
      const batches = compare.store.export(selection(subject()), 'asc', call());
      expect((await batches.next()).done).to.equal(false);
      expect((await batches.return({ shortfalls: [] })).done).to.equal(true);
      await compare.page(selection(subject()), { order: 'asc', size: 10, from: 0 });
    });

    it('return a partial result with the reason after a timeout', async () => {
      const { compare } = subject();
      const selected = selection(subject());
      const whole = await compare.oracle.statistics(selected, call());
      for (const timeoutMs of [1, 5, 20]) {
        const hurry: Call = call(undefined, timeoutMs);
        const questions = [
          () =>
            compare.store
              .query(selected, { order: 'asc', size: 1_000, from: 0 }, hurry)
              .then(({ total, shortfalls }) => ({ total, shortfalls })),
          () =>
            compare.store
              .statistics(selected, hurry)
              .then(({ logs, shortfalls }) => ({ total: logs, shortfalls })),
        ];
        for (const ask of questions) {
          // Sequential: the second would be unhandled while the first is awaited.
          const work = ask();
          const outcome = await work.catch((error: unknown) => error);
          if (outcome instanceof Error) {
            expectStatus(outcome, 504);
            continue;
          }
          const { total, shortfalls } = await work;
          if (shortfalls.length === 0) expect(total).to.deep.equal(whole.logs);
          else expect(total.count).to.be.at.most(whole.logs.count);
        }
      }
    });

    it('check the health of the store', async () => {
      await subject().compare.store.check(call());
    });
  });

  describe('following', () => {
    // Before other tests write records that the reference does not have.
    it('begins at a past instant, with all records since', async () => {
      const { compare, records } = subject();
      const start = wholeMillisecond(records.at(-200)?.time ?? '');
      const end = new Date(Date.now() + 3_600_000).toISOString().replace('Z', '000000Z');
      const selected = selection(subject(), { range: { start, end } });
      const expected = (
        await compare.oracle.query(selected, { order: 'asc', size: Number.MAX_SAFE_INTEGER, from: 0 }, call())
      ).records;
      const leaving = new AbortController();
      const arrived: LogRecord[] = [];
      await collect(compare.store.follow(selected, { signal: leaving.signal }), arrived, expected.length);
      leaving.abort();
      const key = (record: LogRecord) =>
        `${record.time.slice(0, 23)} ${record.pod} ${record.container} ${record.log}`;
      expect(arrived.map(key).sort()).to.deep.equal(expected.map(key).sort());
    });

    it('returns each new line once', async () => {
      const { started, compare } = subject();
      const clock = clockOf();
      const [here, elsewhere] = twoContainers(subject());
      const { namespace_name: name } = here.kubernetes;
      const leaving = new AbortController();
      const selected = selection(subject(), {
        scope: { everything: false, namespaces: [{ name, since: ALWAYS }] },
        range: { start: clock(), end: clock() },
      });
      const lines = compare.store.follow(selected, { signal: leaving.signal });
      const arrived: LogRecord[] = [];
      const expected: LogRecord[] = [];
      for (const round of [1, 2, 3]) {
        const written = [1, 2, 3].map(
          (number): StoredRecord => ({ ...here, time: clock(), log: `followed ${round}.${number}` }),
        );
        const [last] = written.slice(-1);
        // Two in the same nanosecond, and some outside the selection.
        if (last !== undefined) written.push({ ...last, log: `followed ${round}.4, at the same time` });
        const others = [{ ...elsewhere, time: clock(), log: 'another namespace' }];
        const reading = collect(lines, arrived, expected.length + written.length);
        await started.write([...written, ...others]);
        await reading;
        expected.push(...written.map(toLogRecord));
        const key = ({ time, log }: LogRecord) =>
          `${started.precision === 'ns' ? time : time.slice(0, 23)} ${log}`;
        expect(arrived.map(key).sort()).to.deep.equal(expected.map(key).sort());
      }
      leaving.abort();
      expect(await endOf(lines)).to.equal('ended');
    });

    it('ends immediately when it is aborted', async () => {
      const leaving = new AbortController();
      // After the records of other tests.
      const start = new Date(Date.now() + 1_000).toISOString().replace('Z', '000000Z');
      const lines = subject().compare.store.follow(selection(subject(), { range: { start, end: start } }), {
        signal: leaving.signal,
      });
      const next = lines.next();
      leaving.abort();
      expect((await next).done).to.equal(true);
      expect(await endOf(lines)).to.equal('ended');
    });
  });
}

/** Ascending instants from now on, in nanoseconds. */
function clockOf(): () => string {
  let last = 0;
  let ns = 0;
  return () => {
    last = Math.max(last, Date.now());
    ns += 1_001;
    return new Date(last).toISOString().replace('Z', `${String(ns).padStart(6, '0')}Z`);
  };
}

/** Recent records of two namespaces: containers that are still running. */
function twoContainers({ records }: Subject): readonly [StoredRecord, StoredRecord] {
  const one = records.at(-1);
  const other = records.findLast(
    ({ kubernetes }) => kubernetes.namespace_name !== one?.kubernetes.namespace_name,
  );
  if (one === undefined || other === undefined) throw new Error('the data set has only one namespace');
  return [one, other];
}

async function endOf(lines: Batches): Promise<'ended' | 'running'> {
  const { done } = await lines.next();
  return done === true ? 'ended' : 'running';
}
