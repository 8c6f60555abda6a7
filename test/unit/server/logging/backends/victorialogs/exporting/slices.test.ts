import { expect } from 'chai';
import { Slices } from '../../../../../../../server/logging/backends/victorialogs/exporting/slices.ts';
import { Connection } from '../../../../../../../server/logging/backends/victorialogs/requests/connection.ts';
import {
  instantAt,
  nanosecondsOf,
} from '../../../../../../../server/logging/backends/victorialogs/requests/nanoseconds.ts';
import { Queries } from '../../../../../../../server/logging/backends/victorialogs/requests/queries.ts';
import type { Range } from '../../../../../../../server/logging/backends/victorialogs/selection/question.ts';
import { Deadline } from '../../../../../../../server/logging/deadline.ts';
import type { Order } from '../../../../../../../server/logging/log-store.ts';
import { rows, ScriptedVictoriaLogs } from '../../../../../../support/logging/scripted-victorialogs.ts';

/** Counts lines as the store does, by the width and the offset of the question. */
function counting(times: readonly bigint[]) {
  return ScriptedVictoriaLogs.start((response, asked) => {
    const query = asked.form.get('query') ?? '';
    const [, width = '1', offset = '0'] = /_time:(\d+)ns offset (\d+)ns/.exec(query) ?? [];
    const [, start = '', end = ''] = /_time:\[(.*),(.*)\)/.exec(asked.form.get('extra_filters') ?? '') ?? [];
    const cells = new Map<bigint, number>();
    for (const time of times) {
      if (time < nanosecondsOf(start) || time >= nanosecondsOf(end)) continue;
      const cell = time - ((time - BigInt(offset)) % BigInt(width));
      cells.set(cell, (cells.get(cell) ?? 0) + 1);
    }
    rows(...[...cells].map(([cell, n]) => ({ _time: instantAt(cell), n: String(n) })))(response, asked);
  });
}

/** All of them, of about ten lines each. */
async function slicesOf(slices: Slices): Promise<Range[]> {
  const all: Range[] = [];
  for (let slice = await slices.next(10); slice; slice = await slices.next(10)) all.push(slice);
  return all;
}

describe('slices of time', () => {
  const begin = nanosecondsOf('2026-01-01T00:00:00.000000000Z');
  /** A crowd at one moment, a dense second, and a thin day. */
  const times = [
    ...Array.from({ length: 50 }, () => begin + 3_600_000_000_007n),
    ...Array.from({ length: 300 }, (_, index) => begin + 7_200_000_000_000n + BigInt(index) * 3_333_333n),
    ...Array.from({ length: 100 }, (_, index) => begin + BigInt(index) * 864_000_000_000n),
  ];
  const linesIn = ({ start, end }: Range): number =>
    times.filter((at) => at >= nanosecondsOf(start) && at < nanosecondsOf(end)).length;
  const cut = (url: string, order: Order): Slices => {
    const queries = new Queries(new Connection({ url, now: Date.now }));
    const question = ({ start, end }: Range) => ({
      lines: '*',
      extraFilters: [`_time:[${start},${end})`],
    });
    const range = { start: instantAt(begin), end: instantAt(begin + 86_400_000_000_000n) };
    const deadline = new Deadline({ signal: new AbortController().signal, timeoutMs: 30_000 }, Date.now);
    return new Slices(queries, { question, order, range, count: times.length }, deadline);
  };

  for (const order of ['asc', 'desc'] as const) {
    it(`hold every line once, in order, and never many, ${order}`, async () => {
      await using server = await counting(times);
      const slices = await slicesOf(cut(server.url, order));
      const counts = slices.map(linesIn);
      expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(times.length);
      const crowded = slices.filter((_, index) => (counts[index] ?? 0) > 20);
      expect(crowded.map(({ start, end }) => nanosecondsOf(end) - nanosecondsOf(start))).to.deep.equal([1n]);
      expectOrder(slices, order);
    });

    it(`are cut again when one was too much, and go on behind it, ${order}`, async () => {
      await using server = await counting(times);
      const slices = cut(server.url, order);
      const [first, second] = [await slices.next(100), await slices.next(100)];
      if (!first || !second) throw new Error('there are no slices');
      expect(linesIn(first)).to.be.above(20);
      slices.putBack(second);
      slices.putBack(first);
      const smaller = await slicesOf(slices);
      expect(smaller.map(linesIn).filter((count) => count > 20)).to.deep.equal([50]);
      expect(smaller.reduce((sum, slice) => sum + linesIn(slice), 0)).to.equal(times.length);
      expectOrder(smaller, order);
    });
  }

  it('grow as they are asked for', async () => {
    await using server = await counting(times);
    const slices = cut(server.url, 'asc');
    const few = await slices.next(10);
    const many = await slices.next(1_000);
    expect(few && linesIn(few)).to.be.below(20);
    expect((few ? linesIn(few) : 0) + (many ? linesIn(many) : 0)).to.equal(times.length);
    expect(await slices.next(10)).to.equal(undefined);
  });
});

function expectOrder(slices: readonly Range[], order: Order): void {
  const inTime = order === 'asc' ? slices : slices.toReversed();
  for (const [index, { end }] of inTime.entries()) {
    const next = inTime[index + 1];
    if (next) expect(end <= next.start, `${end} before ${next.start}`).to.equal(true);
  }
}
