import { expect } from 'chai';
import pino from 'pino';
import { VictoriaLogsLogStore } from '../../../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import type { Order, PageRequest, Selection } from '../../../../../../../server/logging/log-store.ts';
import {
  type Answer,
  rows,
  ScriptedVictoriaLogs,
} from '../../../../../../support/logging/scripted-victorialogs.ts';
import { FIELDS } from '../../../../../../support/logging/victorialogs.ts';

const RANGE = { start: '2026-01-01T00:00:00.000000000Z', end: '2026-01-02T00:00:00.000000000Z' };
const SELECTION: Selection = { scope: { everything: true }, range: RANGE };

function line(n: number, minute: number) {
  const _time = new Date(Date.parse(RANGE.start) + minute * 60_000).toISOString().replace('Z', '000000Z');
  return { _time, _msg: `line ${String(n).padStart(2, '0')}` };
}

/** Two at the beginning of the day, and many three at a time in two places: what should hold a page may hold nothing. */
const LINES = [0, 1, ...threeAtATime(300), ...threeAtATime(1_400)].map((minute, n) => line(n, minute));

function threeAtATime(minute: number): number[] {
  return Array.from({ length: 20 }, (_, n) => minute + Math.floor(n / 3));
}

/** Answers as the store does: counts, or the lines of a range, ordered and cut as the query says. */
const held: Answer = (response, asked) => {
  const query = asked.form.get('query') ?? '';
  const [, start = '', end = '', open] =
    /^_time:\[([^,]+),([^\])]+)([\])])$/.exec(asked.form.getAll('extra_filters')[0] ?? '') ?? [];
  const within = LINES.filter(({ _time }) => _time >= start && (open === ')' ? _time < end : _time <= end));
  const [first, last] = [within[0]?._time ?? '', within.at(-1)?._time ?? ''];
  const limit = / limit (\d+)$/.exec(query)?.[1];
  const ordered = query.includes(' desc') ? within.toReversed() : within;
  if (query.includes(' stats '))
    rows({ n: String(within.length), first, last, unsure: '0' })(response, asked);
  else rows(...ordered.slice(0, limit === undefined ? undefined : Number(limit)))(response, asked);
};

for (const order of ['asc', 'desc'] as const satisfies readonly Order[]) {
  describe(`pages of lines that are spread unevenly over the time, ${order}`, () => {
    const times = LINES.map(({ _time }) => _time);
    const expected = order === 'asc' ? times : times.toReversed();

    async function asking(
      work: (ask: (page: Partial<PageRequest>) => ReturnType<VictoriaLogsLogStore['query']>) => Promise<void>,
    ) {
      await using server = await ScriptedVictoriaLogs.start(held);
      const log = pino({ level: 'silent' });
      const store = new VictoriaLogsLogStore({ url: server.url, fields: FIELDS, log });
      const call = { signal: new AbortController().signal, timeoutMs: 30_000 };
      await work((page) => store.query(SELECTION, { order, size: 4, from: 0, ...page }, call));
    }

    it('hold each line once, in the order of time, also where one ends among lines of one time', () =>
      asking(async (ask) => {
        const seen: { readonly time: string; readonly log: string }[] = [];
        let after: string | undefined;
        do {
          const page = await ask(after === undefined ? {} : { after });
          expect(page.total).to.deep.equal({ count: LINES.length, relation: 'eq' });
          expect(page.records).to.have.length.within(1, 4);
          seen.push(...page.records);
          after = page.next;
        } while (after !== undefined);
        expect(seen.map(({ time }) => time)).to.deep.equal(expected);
        expect(new Set(seen.map(({ log }) => log)).size).to.equal(LINES.length);
      }));

    it('may begin in the middle, and are empty behind the last line', () =>
      asking(async (ask) => {
        for (const from of [1, 5, 39, 41, 42, 50]) {
          const { records, next } = await ask({ from });
          expect(
            records.map(({ time }) => time),
            String(from),
          ).to.deep.equal(expected.slice(from, from + 4));
          expect(next === undefined, String(from)).to.equal(from + 4 >= LINES.length);
        }
      }));
  });
}
