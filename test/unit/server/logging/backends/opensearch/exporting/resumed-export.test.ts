import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
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

const MANY: readonly Line[] = Array.from({ length: 3_000 }, (_, n) => ({
  id: `line-${n}`,
  key: `${1_768_471_200_000_000_000n + BigInt(Math.floor(n / 7))}`,
  sequence: n,
}));
const AWAY = { total: 2, successful: 1, skipped: 0, failed: 1, failures: [] };
const WHOLE = { total: 2, successful: 2, skipped: 0, failed: 0 };

/** What is behind the position of the question. */
function behind({ text, body }: Asked): Line[] {
  const [, time, sequence] = /"search_after":\[(\d+),(-?\d+)\]/.exec(text) ?? [];
  const first = MANY.findIndex(
    ({ key, sequence: own }) =>
      time === undefined || BigInt(key) > BigInt(time) || (key === time && own > Number(sequence)),
  );
  return first < 0 ? [] : MANY.slice(first, first + Number(body['size']));
}

type Failing = (response: ServerResponse, found: readonly Line[]) => unknown;

function refuse(response: ServerResponse, status: number, type: string, reason = 'gone'): typeof ANSWERED {
  response.writeHead(status).end(JSON.stringify({ error: { type, reason }, status }));
  return ANSWERED;
}

const LOSSES: readonly (readonly [string, Failing])[] = [
  ['a node leaves', (_, found) => answer(found.slice(0, found.length / 2), { _shards: AWAY })],
  [
    'the only node leaves that has the shards',
    (response) => refuse(response, 503, 'search_phase_execution_exception', 'all shards failed'),
  ],
  ['the point in time expires', (response) => refuse(response, 404, 'search_context_missing_exception')],
];

describe('an export from OpenSearch', () => {
  /** `failing`: what the third page of each of the first points in time is answered with. */
  async function exported(failing: Failing, failures: number, opened: object) {
    let points = 0;
    const open = new Set<string>();
    const pages = new Map<string, number>();
    await using store = await scriptedStore((asked, response) => {
      if (asked.method === 'DELETE') {
        open.delete(String((asked.body['pit_id'] as string[])[0]));
        return { pits: [] };
      }
      if (asked.path.includes('point_in_time')) {
        const id = `point-${++points}`;
        open.add(id);
        return { pit_id: id, _shards: points > 1 ? opened : WHOLE };
      }
      const found = behind(asked);
      const pit = asked.body['pit'] as { id: string } | undefined;
      if (!pit) return answer(found);
      const page = (pages.get(pit.id) ?? 0) + 1;
      pages.set(pit.id, page);
      if (page === 3 && points <= failures) return failing(response, found);
      return answer(found, { _shards: points > 1 ? opened : WHOLE });
    });
    const lines = storeAt(store.url, { pageSize: 400, pausesMs: [1, 1] }).export(SELECTION, 'asc', call());
    const logs: string[] = [];
    let next = await lines.next();
    for (; !next.done; next = await lines.next()) logs.push(...Array.from(next.value, ({ log }) => log));
    return { logs, points, open: [...open], shortfalls: next.value.shortfalls };
  }

  for (const [what, failing] of LOSSES) {
    it(`goes on from another point in time, each line once, when ${what}`, async () => {
      const all = MANY.map(({ id }) => id);
      expect(await exported(failing, 2, WHOLE)).to.deep.equal({
        logs: all,
        points: 3,
        open: [],
        shortfalls: [],
      });
    });
  }

  it('waits for the shards, and goes on without those that stay away', async () => {
    const { points, open, shortfalls } = await exported(LOSSES[0]?.[1] ?? expect.fail(), 1, AWAY);
    expect({ points, open }).to.deep.equal({ points: 3, open: [] });
    expect(shortfalls).to.deep.equal([
      { reason: 'ShardFailed', message: '1 of 2 shards of the log store failed, or are away' },
    ]);
  });
});
