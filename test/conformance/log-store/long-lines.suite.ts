// Conformance tests of log stores: pages of long lines that exceed the maximum response size.
import { expect } from 'chai';
import type { LogRecord as StoredRecord } from '../../../hack/log-stores/record.ts';
import { instantOf, millisecondsOf } from '../../../server/logging/store/instant.ts';
import { Deadline, type LogPage, type Selection } from '../../../server/logging/store/log-store.ts';
import { isPageTooLong, MAX_PAGE_BYTES, queryPage } from '../../../server/logging/store/page-limit.ts';
import type { StartedLogStore } from './harness.ts';

const LENGTH = 200_000;
const HOUR_MS = 3_600_000;
const STEP_MS = 10;
const LINES = Math.ceil((1.05 * MAX_PAGE_BYTES) / LENGTH);

/** `start` is called once, before the first test; it may call `this.skip()`. Longer copies of its records are written. */
export function describeLongLines(
  name: string,
  start: (test: Mocha.Context) => Promise<StartedLogStore>,
): void {
  describe(`${name}, with long lines`, () => {
    let started: StartedLogStore | undefined;
    let lines: string[] = [];
    let selection: Selection;
    const call = { signal: new AbortController().signal, timeoutMs: 60_000 };

    before(async function () {
      this.timeout(300_000);
      started = await start(this);
      const records = longOnes([...started.records]);
      const [begin = '', end = ''] = [records[0]?.time, records.at(-1)?.time];
      selection = {
        scope: { everything: true },
        range: { start: begin, end: instantOf(millisecondsOf(end) + 1) },
      };
      lines = records.map(({ log }) => log);
      await started.write(records);
    });

    after(() => started?.stop());

    const store = () => {
      if (!started) throw new Error('nothing was started');
      return started.store;
    };

    it('rejects a page beyond the limit', async () => {
      const request = { order: 'asc', size: LINES, from: 0 } as const;
      const error: unknown = await store()
        .query(selection, request, call)
        .catch((thrown: unknown) => thrown);
      expect(isPageTooLong(error)).to.equal(true);
    });

    it('skips more lines than fit into a page', async () => {
      const [from, size] = [LINES - 3, 2];
      const page = await store().query(selection, { order: 'asc', size, from }, call);
      expect(page.records.map(({ log }) => headOf(log))).to.deep.equal(lines.slice(-3, -1).map(headOf));
      const rest = { order: 'asc', size, from: 0, after: page.next ?? '' } as const;
      const last = await store().query(selection, rest, call);
      expect(last.records.map(({ log }) => headOf(log))).to.deep.equal(lines.slice(-1).map(headOf));
      const behind = await store().query(selection, { order: 'asc', size, from: LINES }, call);
      expect(behind.records).to.deep.equal([]);
      expect(behind.next).to.equal(undefined);
    });

    it('returns all lines on shorter pages', async () => {
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const request = { order: 'asc', size: LINES, from: 0, ...(after ? { after } : {}) } as const;
        const { page, isCut }: { page: LogPage; isCut: boolean } = await queryPage(store(), {
          selection,
          request,
          deadline: new Deadline(call, Date.now),
        });
        expect(page.total).to.deep.equal({ count: LINES, relation: 'eq' });
        expect(isCut).to.equal(page.next !== undefined);
        seen.push(...page.records.map(({ log }) => log));
        after = page.next;
      } while (after !== undefined);
      expect(seen.map(headOf)).to.deep.equal(lines.map(headOf));
    });

    it('returns all lines to a live tail', async () => {
      const leaving = new AbortController();
      const seen: string[] = [];
      for await (const batch of store().follow(selection, { signal: leaving.signal })) {
        for (const { log } of batch) seen.push(log);
        if (seen.length >= LINES) leaving.abort();
      }
      expect(seen.map(headOf)).to.deep.equal(lines.map(headOf));
    });

    it('exports all lines', async () => {
      const seen: string[] = [];
      for await (const batch of store().export(selection, 'asc', call))
        for (const { log } of batch) seen.push(log);
      expect(seen.map(headOf)).to.deep.equal(lines.map(headOf));
    });
  });
}

/** Identifies a line in a short assertion message. */
function headOf(line: string): string {
  return `${line.slice(0, 10)} ${line.length}`;
}

/** With ascending times from the next hour on. */
function longOnes(records: readonly StoredRecord[]): StoredRecord[] {
  const last = records.toSorted((one, other) => (one.time < other.time ? -1 : 1)).at(-1);
  if (!last) throw new Error('there are no records');
  const begin = Date.parse(last.time) + HOUR_MS;
  return Array.from({ length: LINES }, (_, index) => ({
    ...last,
    time: new Date(begin + index * STEP_MS).toISOString().replace('Z', '000000Z'),
    log: `${String(index).padStart(5, '0')} ${'words '.repeat(LENGTH / 6)}`.slice(0, LENGTH),
  }));
}
