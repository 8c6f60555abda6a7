// Tests of the size limit for a page of log lines.
import { expect } from 'chai';
import { array, record as read, text } from '../../../../apis/reading/unknown-value.ts';
import { BEGINNING } from '../../../../server/logging/instant.ts';
import {
  type Call,
  Deadline,
  type LogPage,
  type LogRecord,
  type PageRequest,
} from '../../../../server/logging/log-store.ts';
import {
  fittingPage,
  newPageTooLong,
  queryPage,
  withFewerLines,
} from '../../../../server/logging/page-limit.ts';
import { isStoreExhausted, newStoreExhausted } from '../../../../server/logging/store-errors.ts';
import { LogService, line } from '../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../support/logging/memory-log-store.ts';

const exhausted = (): Error => newStoreExhausted('opensearch', new Error('no memory'));

describe('withFewerLines', () => {
  const { signal } = new AbortController();
  const waits: number[] = [];
  const wait = async (ms: number): Promise<void> => void waits.push(ms);

  beforeEach(() => {
    waits.length = 0;
  });

  it('retries after a pause if the store is short of memory', async () => {
    let times = 0;
    const found = await withFewerLines(
      100,
      async () => {
        if (++times < 3) throw exhausted();
        return 'these';
      },
      signal,
      wait,
    );
    expect(found).to.deep.equal({ result: 'these', requested: 7 });
    expect(waits).to.deep.equal([200, 400]);
  });

  it('fails if the store has no memory for one line', async () => {
    const requested: number[] = [];
    const error = await withFewerLines(
      3,
      async (size) => {
        requested.push(size);
        throw exhausted();
      },
      signal,
      wait,
    ).catch((caught: unknown) => caught);
    expect(isStoreExhausted(error)).to.equal(true);
    expect(error).to.include({ code: 503 });
    expect(requested).to.deep.equal([3, 1]);
  });
});

const selection = { scope: { everything: true }, range: { start: BEGINNING, end: BEGINNING } } as const;
const record: LogRecord = { time: BEGINNING, log: 'a', namespace: 'shop', pod: 'cart-0', container: 'cart' };

/** A store whose responses fit two lines and take 300 ms. */
class Store {
  now = 0;
  readonly requested: { readonly size: number; readonly timeoutMs: number }[] = [];
  readonly #lines: number;

  constructor(lines: number) {
    this.#lines = lines;
  }

  async query(_: unknown, { size }: PageRequest, { timeoutMs }: Call): Promise<LogPage> {
    this.requested.push({ size, timeoutMs });
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

describe('queryPage with a page that is too long for the store', () => {
  it('retries with fewer lines in the time that is left', async () => {
    const store = new Store(9);
    const { page, isCut } = await store.page(8);
    expect(page.records).to.have.length(2);
    expect(isCut).to.equal(true);
    expect(store.requested.map(({ timeoutMs }) => timeoutMs)).to.deep.equal(
      store.requested.map((_, at) => Math.max(1, 1_000 - 300 * at)),
    );
    expect(store.requested.length).to.be.above(1);
  });
});

const MEBI = 1 << 20;
const recordsOf = (count: number, length: number): LogRecord[] =>
  Array.from({ length: count }, () => ({ ...record, log: 'a'.repeat(length) }));

describe('a page of lines', () => {
  it('has at most 8 Mi characters', () => {
    expect(fittingPage([])).to.equal(0);
    expect(fittingPage(recordsOf(1_000, 300))).to.equal(1_000);
    expect(fittingPage(recordsOf(1_000, MEBI))).to.equal(8);
    expect(fittingPage([...recordsOf(1, 9 * MEBI), record])).to.equal(1);
  });

  it('that is truncated reports it, and continues by cursor', async () => {
    const long = Array.from({ length: 20 }, (_, number) =>
      line(`2026-11-20T10:00:00.0000000${10 + number}Z`, `${number} ${'a'.repeat(MEBI)}`),
    );
    const service = await new LogService({ store: new MemoryLogStore(long) }).start();
    const seen: string[] = [];
    const shown: number[] = [];
    for (let cursor = ''; ; ) {
      const { query, partial } = await service.json(`size=100&sort=asc${cursor}`);
      const page = array(read(query)['records']);
      shown.push(page.length);
      for (const each of page) seen.push(text(read(each)['log']).split(' ')[0] ?? '');
      expect(read(query)).to.include({ total: 20, totalRelation: 'eq' });
      const next = read(query)['cursor'];
      expect(partial === undefined).to.equal(next === undefined);
      if (next === undefined) break;
      expect(read(array(partial)[0])).to.include({ reason: 'Limit' });
      cursor = `&cursor=${text(next)}`;
    }
    await service.stop();
    expect(shown).to.deep.equal([7, 7, 6]);
    expect(seen).to.deep.equal(long.map((_, number) => String(number)));
  });
});
