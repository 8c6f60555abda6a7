import { expect } from 'chai';
import { queryPage } from '../../../../../server/logging/answers/page-query.ts';
import { Deadline } from '../../../../../server/logging/deadline.ts';
import { BEGINNING } from '../../../../../server/logging/instant.ts';
import type { Call, LogPage, LogRecord, PageRequest } from '../../../../../server/logging/log-store.ts';
import { newPageTooLong } from '../../../../../server/logging/page-limit.ts';

const selection = { scope: { everything: true }, range: { start: BEGINNING, end: BEGINNING } } as const;
const record: LogRecord = { time: BEGINNING, log: 'a', namespace: 'shop', pod: 'cart-0', container: 'cart' };

/** A store with so many lines, of which no more than two fit into an answer; asking it takes 300 ms. */
class Store {
  now = 0;
  readonly asked: { readonly size: number; readonly timeoutMs: number }[] = [];
  readonly #lines: number;

  constructor(lines: number) {
    this.#lines = lines;
  }

  async query(_: unknown, { size }: PageRequest, { timeoutMs }: Call): Promise<LogPage> {
    this.asked.push({ size, timeoutMs });
    this.now += 300;
    if (size > 2) throw newPageTooLong();
    const records = Array.from({ length: Math.min(size, this.#lines) }, () => record);
    const next = this.#lines > size ? 'there' : undefined;
    return { records, next, total: { count: this.#lines, relation: 'eq' }, shortfalls: [] };
  }

  page(size: number) {
    const call: Call = { signal: new AbortController().signal, timeoutMs: 1_000 };
    const request: PageRequest = { order: 'asc', size, from: 0 };
    return queryPage(this, { selection, request, deadline: new Deadline(call, () => this.now) });
  }
}

describe('a page that a store finds too long', () => {
  it('is asked for again with fewer lines, in what is left of the time', async () => {
    const store = new Store(9);
    const { page, isCut } = await store.page(8);
    expect(page.records).to.have.length(2);
    expect(isCut).to.equal(true);
    expect(store.asked.map(({ timeoutMs }) => timeoutMs)).to.deep.equal(
      store.asked.map((_, at) => Math.max(1, 1_000 - 300 * at)),
    );
    expect(store.asked.length).to.be.above(1);
  });

  it('is whole when the fewer lines are all that there are', async () => {
    const { page, isCut } = await new Store(2).page(8);
    expect(page.records).to.have.length(2);
    expect(isCut).to.equal(false);
  });

  it('is not called cut when it has all the lines that were wanted', async () => {
    expect((await new Store(9).page(2)).isCut).to.equal(false);
  });
});

describe('a page that turns out to be longer than one answer may be', () => {
  it('is asked for again with as many lines as fit, and leads to the others', async () => {
    const long: LogRecord = { ...record, log: 'x'.repeat(3 << 20) };
    const store = {
      query: async (_: unknown, { size }: PageRequest): Promise<LogPage> => ({
        records: Array.from({ length: size }, () => long),
        next: `behind ${size}`,
        total: { count: 9, relation: 'eq' },
        shortfalls: [],
      }),
    };
    const call: Call = { signal: new AbortController().signal, timeoutMs: 1_000 };
    const request: PageRequest = { order: 'asc', size: 4, from: 0 };
    const deadline = new Deadline(call, () => 0);
    const { page, isCut } = await queryPage(store, { selection, request, deadline });
    expect([page.records.length, page.next, isCut]).to.deep.equal([2, 'behind 2', true]);
  });
});
