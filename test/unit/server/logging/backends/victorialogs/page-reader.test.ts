// Tests of the reader of one page of log records from VictoriaLogs.
import { expect } from 'chai';
import { VictoriaLogsLogStore } from '../../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import type { Order, PageRequest, Selection } from '../../../../../../server/logging/log-store.ts';
import {
  type Responder,
  rows,
  ScriptedVictoriaLogs,
} from '../../../../../support/logging/scripted-victorialogs.ts';
import { FIELDS } from '../../../../../support/logging/victorialogs.ts';

const RANGE = { start: '2026-01-01T00:00:00.000000000Z', end: '2026-01-02T00:00:00.000000000Z' };
const SELECTION: Selection = { scope: { everything: true }, range: RANGE };

function line(n: number, minute: number) {
  const _time = new Date(Date.parse(RANGE.start) + minute * 60_000).toISOString().replace('Z', '000000Z');
  return { _time, _msg: `line ${String(n).padStart(2, '0')}` };
}

/** Two records at the start of the day, and two groups with three records per time: a range may contain fewer than estimated. */
const LINES = [0, 1, ...threeAtATime(300), ...threeAtATime(1_400)].map((minute, n) => line(n, minute));

function threeAtATime(minute: number): number[] {
  return Array.from({ length: 20 }, (_, n) => minute + Math.floor(n / 3));
}

/** Responds as the store does: with counts, or with the sorted lines of a range. */
const held: Responder = (response, request) => {
  const query = request.form.get('query') ?? '';
  const [, start = '', end = '', open] =
    /^_time:\[([^,]+),([^\])]+)([\])])$/.exec(request.form.getAll('extra_filters')[0] ?? '') ?? [];
  const within = LINES.filter(({ _time }) => _time >= start && (open === ')' ? _time < end : _time <= end));
  const [first, last] = [within[0]?._time ?? '', within.at(-1)?._time ?? ''];
  const limit = / limit (\d+)$/.exec(query)?.[1];
  const ordered = query.includes(' desc') ? within.toReversed() : within;
  if (query.includes(' stats ')) rows({ n: String(within.length), first, last })(response, request);
  else rows(...ordered.slice(0, limit === undefined ? undefined : Number(limit)))(response, request);
};

for (const order of ['asc', 'desc'] as const satisfies readonly Order[]) {
  describe(`pages of records with uneven density, ${order}`, () => {
    const times = LINES.map(({ _time }) => _time);
    const expected = order === 'asc' ? times : times.toReversed();

    async function asking(
      work: (ask: (page: Partial<PageRequest>) => ReturnType<VictoriaLogsLogStore['query']>) => Promise<void>,
    ) {
      await using server = await ScriptedVictoriaLogs.start(held);
      const store = new VictoriaLogsLogStore({ url: server.url, fields: FIELDS });
      const call = { signal: new AbortController().signal, timeoutMs: 30_000 };
      await work((page) => store.query(SELECTION, { order, size: 4, from: 0, ...page }, call));
    }

    it('contain each record once, also when a page ends between records with the same time', () =>
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

    it('skip `from` records, and are empty after the last record', () =>
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

describe('the position of a page', () => {
  const store = new VictoriaLogsLogStore({
    url: 'http://127.0.0.1:1',
    fields: FIELDS,
  });

  it('is rejected with the name of the parameter when it is from another store', async () => {
    const texts = [
      '',
      'x',
      RANGE.start,
      `${RANGE.start} 0`,
      `${RANGE.start} 1 1`,
      `${RANGE.start} -1`,
      '1767225600123456789.7',
      // The store fails at such times.
      '0000-01-01T00:00:00.000000000Z 20000',
      '9999-12-31T23:59:59.999999999Z 20000',
    ];
    for (const after of texts) {
      const call = { signal: new AbortController().signal, timeoutMs: 1_000 };
      const page = store.query(SELECTION, { order: 'asc', size: 1, from: 0, after }, call);
      const error: unknown = await page.catch((failure: unknown) => failure);
      expect(error, after).to.have.property('code', 400);
      expect(error, after).to.have.nested.property('details.causes[0].field', 'cursor');
    }
  });
});
