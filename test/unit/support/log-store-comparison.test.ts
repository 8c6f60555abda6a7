// Tests of the comparison between a log store and the reference implementation.
import { expect } from 'chai';
import { logData } from '../../../hack/log-data/log-data.ts';
import type { LogPage, LogRecord, Selection } from '../../../server/logging/store/log-store.ts';
import { Comparison } from '../../conformance/log-store/comparison.ts';
import { MemoryLogStore } from '../../support/logging/memory-log-store.ts';

const records = [...logData({ lines: 300 }).records()];
const everything: Selection = {
  scope: { everything: true },
  range: { start: '2000-01-01T00:00:00.000000000Z', end: '2100-01-01T00:00:00.000000000Z' },
};

/** A log store that returns changed pages. */
class SpoiltStore extends MemoryLogStore {
  readonly #spoil: (page: LogPage) => LogPage;

  constructor(spoil: (page: LogPage) => LogPage) {
    super(records);
    this.#spoil = spoil;
  }

  override async query(...args: Parameters<MemoryLogStore['query']>): Promise<LogPage> {
    return this.#spoil(await super.query(...args));
  }
}

const [other] = records.map(({ log }) => log);
const spoilt: readonly (readonly [what: string, spoil: (page: LogPage) => LogPage])[] = [
  ['a line too few', (page) => ({ ...page, records: page.records.slice(1) })],
  [
    'a line twice',
    (page) => ({ ...page, records: [...page.records.slice(0, -1), ...page.records.slice(0, 1)] }),
  ],
  ['lines out of order', (page) => ({ ...page, records: page.records.toReversed() })],
  [
    'another text',
    (page) => ({ ...page, records: page.records.map((one): LogRecord => ({ ...one, log: `${other}!` })) }),
  ],
  [
    'the line of another container',
    (page) => ({ ...page, records: page.records.map((one): LogRecord => ({ ...one, pod: 'p' })) }),
  ],
  [
    'a time of less precision',
    (page) => ({
      ...page,
      records: page.records.map((one): LogRecord => ({ ...one, time: `${one.time.slice(0, 23)}Z` })),
    }),
  ],
  ['a wrong total', (page) => ({ ...page, total: { count: page.total.count + 1, relation: 'eq' } })],
  ['a total that is only a bound', (page) => ({ ...page, total: { ...page.total, relation: 'gte' } })],
  [
    'a shortfall for no reason',
    (page) => ({ ...page, shortfalls: [{ reason: 'Timeout', message: 'late' }] }),
  ],
  ['no cursor where there is more', (page) => ({ ...page, next: undefined })],
  ['a cursor that skips a line', (page) => ({ ...page, next: page.next && String(Number(page.next) + 1) })],
  ['a cursor that repeats a line', (page) => ({ ...page, next: page.next && String(Number(page.next) - 1) })],
];

describe('the comparison of log stores', () => {
  const compared = (spoil: (page: LogPage) => LogPage) =>
    new Comparison(
      {
        store: new SpoiltStore(spoil),
        records,
        precision: 'ns',
        write: async () => {},
        stop: async () => {},
      },
      {},
    );
  const check = async (spoil: (page: LogPage) => LogPage) => {
    await compared(spoil).page(everything, { order: 'asc', from: 3, size: 40 });
    await compared(spoil).walk(everything, 'desc', 40);
  };

  it('lets a good store pass', async () => {
    await check((page) => page);
  });

  for (const [what, spoil] of spoilt) {
    it(`finds ${what}`, async () => {
      const outcome = await check(spoil).catch((error: unknown) => error);
      expect(outcome).to.have.property('name', 'AssertionError');
    });
  }
});
