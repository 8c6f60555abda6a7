import { expect } from 'chai';
import { Asking, Deadline } from '../../../../../../server/logging/backends/victorialogs/asking.ts';
import { Connection } from '../../../../../../server/logging/backends/victorialogs/connection.ts';
import {
  instantAt,
  nanosecondsOf,
} from '../../../../../../server/logging/backends/victorialogs/nanoseconds.ts';
import { slicesOf } from '../../../../../../server/logging/backends/victorialogs/slices.ts';
import { rows, ScriptedVictoriaLogs } from '../../../../../support/scripted-victorialogs.ts';

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

describe('slices of time', () => {
  const begin = nanosecondsOf('2026-01-01T00:00:00.000000000Z');
  /** A crowd at one moment, a dense second, and a thin day. */
  const times = [
    ...Array.from({ length: 50 }, () => begin + 3_600_000_000_007n),
    ...Array.from({ length: 300 }, (_, index) => begin + 7_200_000_000_000n + BigInt(index) * 3_333_333n),
    ...Array.from({ length: 100 }, (_, index) => begin + BigInt(index) * 864_000_000_000n),
  ];

  for (const order of ['asc', 'desc'] as const) {
    it(`hold every line once, in order, and never many, ${order}`, async () => {
      await using server = await counting(times);
      const asking = new Asking(new Connection({ url: server.url, now: Date.now }));
      const question = ({ start, end }: { start: string; end: string }) => ({
        lines: '*',
        extraFilters: [`_time:[${start},${end})`],
      });
      const range = { start: instantAt(begin), end: instantAt(begin + 86_400_000_000_000n) };
      const deadline = new Deadline({ signal: new AbortController().signal, timeoutMs: 5_000 }, Date.now);
      const slices = await Array.fromAsync(
        slicesOf(asking, { question, order, size: 10 }, range, times.length, deadline),
      );
      const counts = slices.map(
        ({ start, end }) =>
          times.filter((at) => at >= nanosecondsOf(start) && at < nanosecondsOf(end)).length,
      );
      expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(times.length);
      const crowded = slices.filter((_, index) => (counts[index] ?? 0) > 20);
      expect(crowded.map(({ start, end }) => nanosecondsOf(end) - nanosecondsOf(start))).to.deep.equal([1n]);
      const starts = slices.map(({ start }) => start);
      expect(starts).to.deep.equal(order === 'asc' ? starts.toSorted() : starts.toSorted().toReversed());
      for (const [index, { end }] of slices.entries()) {
        const next = slices[index + 1];
        if (next)
          expect(order === 'asc' ? end <= next.start : next.end <= (slices[index]?.start ?? '')).to.equal(
            true,
          );
      }
    });
  }
});
