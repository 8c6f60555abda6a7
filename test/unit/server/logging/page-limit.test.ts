// Tests of the size limit for a page of log lines.
import { expect } from 'chai';
import { array, record as read, text } from '../../../../apis/reading/unknown-value.ts';
import { BEGINNING } from '../../../../server/logging/instant.ts';
import { type LogRecord } from '../../../../server/logging/log-store.ts';
import { fittingPage, withFewerLines } from '../../../../server/logging/page-limit.ts';
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

const record: LogRecord = { time: BEGINNING, log: 'a', namespace: 'shop', pod: 'cart-0', container: 'cart' };

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
    await using service = await new LogService({ store: new MemoryLogStore(long) }).start();
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
    expect(shown).to.deep.equal([7, 7, 6]);
    expect(seen).to.deep.equal(long.map((_, number) => String(number)));
  });
});
