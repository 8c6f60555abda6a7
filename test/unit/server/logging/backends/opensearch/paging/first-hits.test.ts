import { expect } from 'chai';
import { nearPart } from '../../../../../../../server/logging/backends/opensearch/paging/near-part.ts';
import type { Order } from '../../../../../../../server/logging/log-store.ts';
import { storeAt } from '../../../../../../support/logging/opensearch-store.ts';
import {
  ANSWERED,
  type Asked,
  answer,
  call,
  type Line,
  SELECTION,
  scriptedStore,
} from '../scripted-store.ts';

const MIDNIGHT = BigInt(Date.parse(SELECTION.range.start)) * 1_000_000n;

/** So many lines, this far from midnight. */
function linesAt(seconds: readonly number[]): Line[] {
  return seconds.map((second, n) => ({
    id: `line-${n}`,
    key: String(MIDNIGHT + BigInt(second) * 1_000_000_000n),
    sequence: n,
  }));
}

interface Bounds {
  readonly gte: string;
  readonly lt: string;
}

function boundsOf({ body }: Asked): Bounds {
  const { filter } = (body['query'] as { bool: { filter: { range: { time: Bounds } }[] } }).bool;
  return filter[0]?.range.time ?? { gte: '', lt: '' };
}

/** Answers as a store with these lines does for which every question is broad. */
function broad(lines: readonly Line[], order: Order): (asked: Asked) => string {
  return (asked) => {
    const { gte, lt } = boundsOf(asked);
    const [from, before] = [gte, lt].map((bound) => BigInt(Date.parse(bound)) * 1_000_000n);
    const within = lines.filter(({ key }) => BigInt(key) >= (from ?? 0n) && BigInt(key) < (before ?? 0n));
    const after = /"search_after":\[(-?\d+),/.exec(asked.text)?.[1];
    const behind = within.filter(({ key }) => {
      if (after === undefined) return true;
      return order === 'asc' ? BigInt(key) > BigInt(after) : BigInt(key) < BigInt(after);
    });
    const size = Number(asked.body['size']);
    const ordered = behind.toSorted(
      (a, b) => (order === 'asc' ? 1 : -1) * Number(BigInt(a.key) - BigInt(b.key)),
    );
    const total = `"total":{"value":${within.length},`;
    const early = 'terminate_after' in asked.body ? { terminated_early: true } : {};
    const begin = Number(asked.body['from'] ?? 0);
    return answer(ordered.slice(begin, begin + size), early).replace(/"total":\{"value":\d+,/, total);
  };
}

describe('a page of a broad question', () => {
  const spread = linesAt(Array.from({ length: 2_000 }, (_, n) => 1_000 + n * 30));

  for (const order of ['asc', 'desc'] as const) {
    it(`is found without having all ordered, ${order}`, async () => {
      await using store = await scriptedStore(broad(spread, order));
      const expected = order === 'asc' ? spread : spread.toReversed();
      const seen: string[] = [];
      let after: string | undefined;
      for (let page = 0; page < 4; page++) {
        const { records, total, next, shortfalls } = await storeAt(store.url).query(
          SELECTION,
          { order, size: 20, from: 0, ...(after === undefined ? {} : { after }) },
          call(),
        );
        expect(total).to.deep.equal({ count: 2_000, relation: 'eq' });
        expect(shortfalls).to.deep.equal([]);
        seen.push(...records.map(({ log }) => log));
        after = next;
      }
      expect(seen).to.deep.equal(expected.slice(0, 80).map(({ id }) => id));
      const sorted = store.asked.filter(
        ({ path, body }) => path.includes('_search') && body['size'] !== 0 && !('terminate_after' in body),
      );
      expect(sorted.length).to.be.above(0);
      for (const asked of sorted) {
        const { gte, lt } = boundsOf(asked);
        expect(Date.parse(lt) - Date.parse(gte)).to.be.below(86_400_000);
      }
    });
  }

  it('is looked for from where the last page ended on, when too little is left', async () => {
    await using store = await scriptedStore(broad(spread, 'asc'));
    const after = `${spread.at(-3)?.key}.${spread.at(-3)?.sequence}`;
    const page = await storeAt(store.url).query(
      SELECTION,
      { order: 'asc', size: 20, from: 0, after },
      call(),
    );
    expect(page.records.map(({ log }) => log)).to.deep.equal(['line-1998', 'line-1999']);
    expect(page.total).to.deep.equal({ count: 2_000, relation: 'eq' });
    const sorted = store.asked.filter(
      ({ path, body }) => path.includes('_search') && body['size'] !== 0 && !('terminate_after' in body),
    );
    const begin = Number(BigInt(spread.at(-3)?.key ?? 0) / 1_000_000n);
    expect(sorted.map((asked) => Date.parse(boundsOf(asked).gte) >= begin)).to.deep.equal([true]);
  });

  it('is looked for where it was found, when all shards together have many lines', async () => {
    const lines = linesAt([-9 * 86_400, -8 * 86_400, -7 * 86_400, -86_400, 3_600, 7_200, 10_800, 86_000]);
    const script = broad(lines, 'desc');
    let total = 25_000;
    await using store = await scriptedStore((asked) => {
      const told = asked.body['size'] === 0 || 'terminate_after' in asked.body ? total : 8;
      return script(asked)
        .replace('"terminated_early":true', '"terminated_early":false')
        .replace(/"total":\{"value":\d+/, `"total":{"value":${told}`);
    });
    const log = storeAt(store.url);
    const range = { ...SELECTION.range, start: '2026-01-01T00:00:00.000000000Z' };
    const searched = async (): Promise<(readonly [indices: number | undefined, size: unknown])[]> => {
      const begin = store.asked.length;
      const page = await log.query({ ...SELECTION, range }, { order: 'desc', size: 1, from: 0 }, call());
      expect(page.records.map(({ log }) => log)).to.deep.equal(['line-7']);
      expect(page.total).to.deep.equal({ count: total, relation: 'eq' });
      const searches = store.asked.slice(begin).filter(({ path }) => path.includes('_search'));
      return searches.map(({ path, body }) => [path.split('/')[1]?.split(',').length, body['size']] as const);
    };
    expect(await searched()).to.deep.equal([[15, 2]]);
    expect(await searched()).to.have.deep.members([
      [15, 0],
      [2, 2],
    ]);
    total = 8;
    const few = storeAt(store.url);
    for (const _ of [1, 2]) {
      const begin = store.asked.length;
      await few.query({ ...SELECTION, range }, { order: 'desc', size: 1, from: 0 }, call());
      expect(store.asked.slice(begin).filter(({ path }) => path.includes('_search'))).to.have.length(1);
    }
  });

  it('is looked for in the indices of the days where it can be', async () => {
    await using store = await scriptedStore(broad(spread, 'desc'));
    const range = { ...SELECTION.range, start: '2026-01-01T00:00:00.000000000Z' };
    await storeAt(store.url).query({ ...SELECTION, range }, { order: 'desc', size: 20, from: 0 }, call());
    const sorted = store.asked.filter(({ path, body }) => path.includes('_search') && body['size'] !== 0);
    const days = sorted.map(({ path }) => path.split('/')[1]?.split(',').length);
    expect(days).to.deep.equal([15, 1]);
  });

  it('is no longer looked for by counting when there is no time for that', async () => {
    const script = broad(spread, 'desc');
    let counts = 0;
    await using store = await scriptedStore((asked) => {
      const isLate = asked.body['size'] === 0 && ++counts > 1;
      return isLate ? script(asked).replace('"timed_out":false', '"timed_out":true') : script(asked);
    });
    const page = { order: 'desc', size: 20, from: 0 } as const;
    const { records, shortfalls } = await storeAt(store.url).query(SELECTION, page, call());
    expect(records.map(({ log }) => log)).to.deep.equal(
      spread
        .slice(-20)
        .toReversed()
        .map(({ id }) => id),
    );
    expect(shortfalls).to.deep.equal([]);
    expect(counts).to.equal(2);
  });

  it('ends the other request when one of two fails', async () => {
    const closed = Promise.withResolvers<void>();
    const counting = Promise.withResolvers<void>();
    const script = broad(spread, 'desc');
    let fails = false;
    await using store = await scriptedStore((asked, response) => {
      if (!fails) return script(asked);
      if (asked.body['size'] === 0) {
        response.once('close', closed.resolve);
        counting.resolve();
      } else void counting.promise.then(() => response.writeHead(503).end('{}'));
      return ANSWERED;
    });
    const backend = storeAt(store.url);
    const page = { order: 'desc', size: 20, from: 0 } as const;
    await backend.query(SELECTION, page, call());
    fails = true;
    const failure = await backend.query(SELECTION, page, call(60_000)).catch((error: unknown) => error);
    expect(failure).to.include({ code: 503 });
    await closed.promise;
  });

  it('ends both requests when the caller goes away', async () => {
    const script = broad(spread, 'desc');
    const closed: Promise<void>[] = [];
    const reached = Promise.withResolvers<void>();
    let hangs = false;
    await using store = await scriptedStore((asked, response) => {
      if (!hangs) return script(asked);
      const { promise, resolve } = Promise.withResolvers<void>();
      response.once('close', resolve);
      if (closed.push(promise) === 2) reached.resolve();
      return ANSWERED;
    });
    const backend = storeAt(store.url);
    const page = { order: 'desc', size: 20, from: 0 } as const;
    await backend.query(SELECTION, page, call());
    hangs = true;
    const leaving = new AbortController();
    const asking = backend.query(SELECTION, page, call(60_000, leaving.signal));
    await reached.promise;
    leaving.abort(new Error('gone'));
    expect(await asking.catch((error: unknown) => error)).to.have.property('message', 'gone');
    await Promise.all(closed);
  });

  it('is looked for in all of the range when nothing less holds enough', async () => {
    const lines = linesAt([5, 6, 7]);
    await using store = await scriptedStore(broad(lines, 'desc'));
    const page = await storeAt(store.url).query(SELECTION, { order: 'desc', size: 10, from: 1 }, call());
    expect(page.records.map(({ log }) => log)).to.deep.equal(['line-1', 'line-0']);
    expect(page.total).to.deep.equal({ count: 3, relation: 'eq' });
    expect(page.next).to.equal(undefined);
  });

  it('tells what the count and the search could not cover, once', async () => {
    const script = broad(spread, 'desc');
    await using store = await scriptedStore((asked) => {
      const text = script(asked);
      if ('terminate_after' in asked.body) return text;
      // Part of what is missing of the whole is missing of the part that is searched.
      const failed = asked.body['size'] === 0 ? 2 : 1;
      const shards = { total: 4, successful: 4 - failed, skipped: 0, failed, failures: [] };
      return text.replace(/"_shards":\{[^}]*\}/, `"_shards":${JSON.stringify(shards)}`);
    });
    const page = await storeAt(store.url).query(SELECTION, { order: 'desc', size: 10, from: 0 }, call());
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['ShardFailed']);
    expect(page.shortfalls[0]?.message).to.contain('2 of 4 shards');
    expect(page.total).to.deep.equal({ count: 2_000, relation: 'gte' });
  });

  it('tells what the search alone could not cover', async () => {
    const script = broad(spread, 'desc');
    await using store = await scriptedStore((asked) => {
      const text = script(asked);
      const isSearch = asked.body['size'] !== 0 && !('terminate_after' in asked.body);
      return isSearch ? text.replace('"timed_out":false', '"timed_out":true') : text;
    });
    const page = await storeAt(store.url).query(SELECTION, { order: 'desc', size: 10, from: 0 }, call());
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['Timeout']);
    expect(page.total.relation).to.equal('gte');
  });

  it('counts all of them, not up to ten thousand as a store does by itself', async () => {
    await using store = await scriptedStore(broad(spread, 'desc'));
    await storeAt(store.url).query(SELECTION, { order: 'desc', size: 10, from: 0 }, call());
    const counts = store.asked.filter(({ path, body }) => path.includes('_search') && body['size'] === 0);
    expect(counts).not.to.have.length(0);
    for (const { body } of counts) expect(body).to.have.property('track_total_hits', true);
  });

  it('is found with two requests when it was found before, for as long as these do', async () => {
    let lines = spread;
    let now = 0;
    await using store = await scriptedStore((asked) => broad(lines, 'desc')(asked));
    const backend = storeAt(store.url, { now: () => now });
    const ask = async (): Promise<{ logs: string[]; count: number; requests: number }> => {
      const before = store.asked.length;
      const page = { order: 'desc', size: 20, from: 0 } as const;
      const { records, total } = await backend.query(SELECTION, page, call());
      const requests = store.asked.slice(before).filter(({ path }) => path.includes('_search')).length;
      return { logs: records.map(({ log }) => log), count: total.count, requests };
    };
    const newest = () =>
      lines
        .slice(-20)
        .map(({ id }) => id)
        .toReversed();
    expect((await ask()).requests).to.be.above(3);
    expect(await ask()).to.deep.equal({ logs: newest(), count: 2_000, requests: 2 });
    lines = linesAt(Array.from({ length: 3_000 }, (_, n) => 40_000 + n));
    const elsewhere = await ask();
    expect(elsewhere).to.deep.include({ logs: newest(), count: 3_000 });
    expect(elsewhere.requests).to.be.above(3);
    expect(await ask()).to.deep.equal({ logs: newest(), count: 3_000, requests: 2 });
    now += 60_000;
    expect((await ask()).requests).to.be.above(3);
  });

  it('is found without counting all when its total does not matter', async () => {
    await using store = await scriptedStore(broad(spread, 'desc'));
    const backend = storeAt(store.url);
    const page = { order: 'desc', size: 20, from: 0, uncounted: true } as const;
    for (const isFirst of [true, false]) {
      const before = store.asked.length;
      const { records, total } = await backend.query(SELECTION, page, call());
      expect(records.map(({ log }) => log)).to.deep.equal(
        spread
          .slice(-20)
          .toReversed()
          .map(({ id }) => id),
      );
      expect(total.relation).to.equal('gte');
      expect(total.count).to.be.within(20, 2_000);
      const searches = store.asked.slice(before).filter(({ path }) => path.includes('_search'));
      const ofAll = searches.filter((asked) => {
        const { gte, lt } = boundsOf(asked);
        return asked.body['size'] === 0 && gte === SELECTION.range.start && lt === SELECTION.range.end;
      });
      expect(ofAll).to.deep.equal([]);
      if (!isFirst) expect(searches).to.have.length(1);
    }
  });

  it('is one question when it turns out not to be broad', async () => {
    await using store = await scriptedStore(() => answer(linesAt([1, 2])));
    await storeAt(store.url).query(SELECTION, { order: 'asc', size: 10, from: 0 }, call());
    expect(store.asked.filter(({ path }) => path.includes('_search'))).to.have.length(1);
  });
});

describe('the near part of a range', () => {
  /** Finds it where lines are so far from where the order begins. */
  async function found(lines: readonly number[], needed: number, whole = 86_400_000) {
    const asked: number[] = [];
    const width = await nearPart({
      whole,
      first: 1_000,
      needed,
      many: 1_000,
      count: (most) => {
        asked.push(most);
        return Promise.resolve(lines.filter((distance) => distance <= most).length);
      },
    });
    return { width, asked };
  }
  const evenly = (many: number, first: number, step: number) =>
    Array.from({ length: many }, (_, n) => first + n * step);

  it('holds what is needed, and not much more', async () => {
    for (const lines of [
      evenly(50_000, 0, 1),
      evenly(50_000, 0, 1_000),
      evenly(50_000, 40_000_000, 100),
      evenly(50_000, 86_000_000, 1),
      [...evenly(10, 0, 1_000), ...evenly(50_000, 5_000_000, 7)],
    ]) {
      const { width, asked } = await found(lines, 101);
      expect(asked.length).to.be.below(20);
      const held = lines.filter((distance) => distance <= (width ?? 86_400_000)).length;
      expect(held).to.be.at.least(101);
      expect(width === undefined || held <= 1_000 || width < 2 * Number(lines[100])).to.equal(true);
    }
  });

  it('is the whole when nothing less holds enough', async () => {
    expect((await found(evenly(100, 0, 1), 101)).width).to.equal(undefined);
    expect((await found([], 1)).width).to.equal(undefined);
    expect((await found(evenly(10, 0, 1), 1, 500)).width).to.equal(undefined);
  });

  it('is found with few counts even from the beginning of time', async () => {
    const { asked } = await found(evenly(50_000, 1.7e12, 1_000), 101, 1e13);
    expect(asked.length).to.be.at.most(20);
  });

  it('needs no wider parts where many lines are of one time', async () => {
    const { width, asked } = await found(evenly(50_000, 10, 0), 101);
    expect(width).to.be.above(9).and.below(1_001);
    expect(asked.length).to.be.below(10);
  });
});

describe('a page of which nothing is counted', () => {
  const DAY = 86_400;
  const range = { ...SELECTION.range, start: '2025-11-01T00:00:00.000000000Z' };
  /** As a store does for which nothing is broad. */
  const store = (lines: readonly Line[], order: Order) => {
    const script = broad(lines, order);
    return scriptedStore((asked) =>
      script(asked).replace('"terminated_early":true', '"terminated_early":false'),
    );
  };
  const page = (order: Order, after?: string) =>
    ({ order, size: 2, from: 0, uncounted: true, ...(after === undefined ? {} : { after }) }) as const;

  for (const [what, seconds, days] of [
    ['the first days', [-2 * DAY, -DAY, 3_600, 7_200, 10_800], [1]],
    ['more of them', [-40 * DAY, -3 * DAY, -2 * DAY, 10_800], [1, 8]],
    ['all', [-60 * DAY, -50 * DAY, 10_800], [1, 8, 76]],
  ] as const) {
    it(`is looked for in ${what}, as long as these hold too little`, async () => {
      const lines = linesAt(seconds);
      await using started = await store(lines, 'desc');
      const log = storeAt(started.url);
      const first = await log.query({ ...SELECTION, range }, page('desc'), call());
      const newest = lines.toReversed().map(({ id }) => id);
      expect(first.records.map(({ log }) => log)).to.deep.equal(newest.slice(0, 2));
      const searches = started.asked.filter(({ path }) => path.includes('_search'));
      expect(searches.map(({ path }) => path.split('/')[1]?.split(',').length)).to.deep.equal(days);
      const relation = days.length === 3 ? 'eq' : 'gte';
      expect(first.total).to.include({ relation });
      const second = await log.query({ ...SELECTION, range }, page('desc', first.next), call());
      expect(second.records.map(({ log }) => log)).to.deep.equal(newest.slice(2, 4));
    });
  }

  it('is looked for where the page before was found', async () => {
    const lines = linesAt([-70, -60, -50, -40, -30, -20, -10, 0].map((day) => day * DAY + 3_600));
    await using started = await store(lines, 'desc');
    const log = storeAt(started.url);
    const days: (readonly (number | undefined)[])[] = [];
    let after: string | undefined;
    for (let n = 0; n < 3; n++) {
      const begin = started.asked.length;
      const { next } = await log.query({ ...SELECTION, range }, page('desc', after), call());
      const searches = started.asked.slice(begin).filter(({ path }) => path.includes('_search'));
      days.push(searches.map(({ path }) => path.split('/')[1]?.split(',').length));
      after = next;
    }
    // A first page and those behind it are two kinds of questions.
    expect(days).to.deep.equal([[1, 8, 76], [2, 9, 76], [46]]);
  });

  it('is that of all indices where no node holds those of the first days', async () => {
    const lines = linesAt([-2 * DAY, -DAY, 3_600, 7_200, 10_800]);
    const script = broad(lines, 'desc');
    await using started = await scriptedStore((asked, response) => {
      if (asked.path.includes(',')) return script(asked).replace('"terminated_early":true', '"a":1');
      const reason = { type: 'search_phase_execution_exception', reason: 'all shards failed' };
      response.writeHead(503).end(JSON.stringify({ error: { root_cause: [], ...reason } }));
      return ANSWERED;
    });
    const { records } = await storeAt(started.url).query({ ...SELECTION, range }, page('desc'), call());
    expect(records).to.have.length(2);
    expect(started.asked.at(-1)?.path).to.match(/^\/logs-2025\.11\.01,/);
  });
});
