import { expect } from 'chai';
import type { Order, Selection } from '../../../../../../../server/logging/log-store.ts';
import { storeAt } from '../../../../../../support/logging/opensearch-store.ts';
import { type Asked, answer, call, type Line, SELECTION, scriptedStore } from '../scripted-store.ts';

const MIDNIGHT = Date.parse(SELECTION.range.start);

/** More namespaces that were made in the range, each a minute after the other, than one query may hold. */
const MANY: Selection = {
  ...SELECTION,
  scope: {
    everything: false,
    namespaces: Array.from({ length: 300 }, (_, n) => ({
      name: `team-${n}`,
      since: new Date(MIDNIGHT + (n + 1) * 60_000).toISOString().replace('Z', '000000Z'),
    })),
  },
};

/** Three lines before the 280th was made, and three behind it. */
const LINES: readonly Line[] = [16_000, 16_400, 16_700, 16_900, 17_200, 17_900].map((second, n) => ({
  id: `line-${n}`,
  key: String(BigInt(MIDNIGHT + second * 1000) * 1_000_000n),
  sequence: n,
}));

/** By whose clock the namespaces are new, so that lines of others that had their names may still be on their way. */
const storeOfNow = (url: string) => storeAt(url, { wallClock: () => MIDNIGHT });

/** The times from which and before which lines are asked for, in ns. */
function rangeOf({ body }: Asked): readonly bigint[] {
  const { filter } = (body['query'] as { bool: { filter: { range: { time: Record<string, string> } }[] } })
    .bool;
  const { gte = '', lt = '' } = filter[0]?.range.time ?? {};
  return [gte, lt].map((bound) => BigInt(Date.parse(bound)) * 1_000_000n);
}

function answered(asked: Asked, order: Order): string {
  const [from = 0n, before = 0n] = rangeOf(asked);
  const within = LINES.filter(({ key }) => BigInt(key) >= from && BigInt(key) < before);
  const after = /"search_after":\[(\d+),/.exec(asked.text)?.[1];
  const ordered = order === 'asc' ? within : within.toReversed();
  const behind = ordered.filter(
    ({ key }) => after === undefined || (order === 'asc' ? key > after : key < after),
  );
  const begin = Number(asked.body['from'] ?? 0);
  const given = behind.slice(begin, begin + Number(asked.body['size']));
  return answer(given).replace(/"total":\{"value":\d+/, `"total":{"value":${within.length}`);
}

for (const order of ['asc', 'desc'] as const) {
  describe(`pages over more namespaces than one query may hold, ${order}`, () => {
    const expected = (order === 'asc' ? LINES : LINES.toReversed()).map(({ id }) => id);

    it('follow on each other in the order of time, and tell how many lines there are in all', async () => {
      await using store = await scriptedStore((asked) => answered(asked, order));
      const backend = storeOfNow(store.url);
      const seen: string[] = [];
      let after: string | undefined;
      for (let page = 0; page < 3; page++) {
        const asked = { order, size: 2, from: 0, ...(after === undefined ? {} : { after }) };
        const { records, total, next } = await backend.query(MANY, asked, call());
        expect(total).to.deep.equal({ count: 6, relation: 'eq' });
        seen.push(...records.map(({ log }) => log));
        after = next;
      }
      expect(seen).to.deep.equal(expected);
      expect(after).to.equal(undefined);
    });

    it('may begin in the middle', async () => {
      await using store = await scriptedStore((asked) => answered(asked, order));
      for (const from of [1, 3, 4]) {
        const { records } = await storeOfNow(store.url).query(MANY, { order, size: 2, from }, call());
        expect(records.map(({ log }) => log)).to.deep.equal(expected.slice(from, from + 2));
      }
    });

    it('do not ask for what lies behind the page where nothing is counted', async () => {
      await using store = await scriptedStore((asked) => answered(asked, order));
      const page = { order, size: 2, from: 0, uncounted: true };
      const { records, total } = await storeOfNow(store.url).query(MANY, page, call());
      expect(records.map(({ log }) => log)).to.deep.equal(expected.slice(0, 2));
      expect(total).to.have.property('relation', 'gte');
      const searches = store.asked.filter(({ path }) => path.includes('_search'));
      expect(searches.map((asked) => rangeOf(asked)[order === 'asc' ? 0 : 1])).to.deep.equal([
        BigInt(Date.parse(order === 'asc' ? SELECTION.range.start : SELECTION.range.end)) * 1_000_000n,
      ]);
    });
  });
}
