import { expect } from 'chai';
import { array, record as read, text } from '../../../../../apis/reading/unknown-value.ts';
import { fittingPage, pieces } from '../../../../../server/logging/answers/record-weight.ts';
import type { LogRecord } from '../../../../../server/logging/log-store.ts';
import { LogService, line } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../../support/logging/memory-log-store.ts';

const MEBI = 1 << 20;
const record = (length: number): LogRecord => ({
  time: '2026-11-20T10:00:00.000000001Z',
  log: 'a'.repeat(length),
  namespace: 'shop',
  pod: 'cart-0',
  container: 'cart',
});
const records = (count: number, length: number) => Array.from({ length: count }, () => record(length));

describe('a page of lines', () => {
  it('holds all of usual ones, and eight mebi of characters of long ones', () => {
    expect(fittingPage([])).to.equal(0);
    expect(fittingPage(records(1_000, 300))).to.equal(1_000);
    expect(fittingPage(records(1_000, MEBI))).to.equal(8);
    expect(fittingPage([record(9 * MEBI), record(1)])).to.equal(1);
  });

  it('that does not hold all says so, and goes on by its cursor with those that are left', async () => {
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

describe('a piece of a stream', () => {
  it('has 250 lines, or a mebi of characters, or one line', () => {
    const sizes = (of: readonly LogRecord[]) => [...pieces(of)].map(({ length }) => length);
    expect(sizes([])).to.deep.equal([]);
    expect(sizes(records(600, 10))).to.deep.equal([250, 250, 100]);
    expect(sizes(records(5, MEBI / 2))).to.deep.equal([2, 2, 1]);
    expect(sizes(records(3, 2 * MEBI))).to.deep.equal([1, 1, 1]);
  });

  it('is made before the next records are read', () => {
    let read = 0;
    const many = (function* () {
      for (; read < 10_000; read++) yield record(10);
    })();
    pieces(many).next();
    expect(read).to.equal(250);
  });
});
