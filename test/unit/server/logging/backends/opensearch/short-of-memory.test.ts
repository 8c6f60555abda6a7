import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { Deadline } from '../../../../../../server/logging/deadline.ts';
import { queryPage } from '../../../../../../server/logging/fewer-lines.ts';
import { isStoreExhausted } from '../../../../../../server/logging/store-errors.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { ANSWERED, type Asked, answer, call, type Line, SELECTION, scriptedStore } from './scripted-store.ts';

const LINES: readonly Line[] = Array.from({ length: 60 }, (_, n) => ({
  id: `line-${n}`,
  key: String(1_768_471_200_000_000_000n + BigInt(n)),
  sequence: n,
}));
const IDS = LINES.map(({ id }) => id);

/** A store that has memory for so many lines at once. */
function holding(most: number): (asked: Asked, response: ServerResponse) => unknown {
  return (asked, response) => {
    if (asked.path.includes('point_in_time'))
      return { pit_id: 'point', _shards: { total: 2, successful: 2 } };
    const size = Number(asked.body['size'] ?? 0);
    if (size <= most) return after(asked, size);
    const type = 'circuit_breaking_exception';
    const cause = { type, reason: '[parent] Data too large, data for [<http_request>] at 10.0.0.1' };
    // Of all shards, or of the request before any of them is asked.
    const error =
      size % 2 === 0 ? { ...cause, root_cause: [cause] } : { type: 'search_phase', root_cause: [cause] };
    response.writeHead(429).end(JSON.stringify({ error, status: 429 }));
    return ANSWERED;
  };
}

function after({ text }: Asked, size: number): string {
  const sequence = /"search_after":\[-?\d+,(-?\d+)\]/.exec(text)?.[1];
  const begin = sequence === undefined ? 0 : Number(sequence) + 1;
  return answer(LINES.slice(begin, begin + size));
}

describe('an OpenSearch that is short of memory', () => {
  it('is asked for fewer lines of a page, and the cursor leads to the others', async () => {
    await using store = await scriptedStore(holding(20));
    const request = { order: 'asc', size: 50, from: 0 } as const;
    const { page, isCut } = await queryPage(storeAt(store.url), {
      selection: SELECTION,
      request,
      deadline: new Deadline(call(), Date.now),
    });
    expect(page.records.map(({ log }) => log)).to.deep.equal(IDS.slice(0, 13));
    expect(isCut).to.equal(true);
    expect(page.next).to.be.a('string');
  });

  it('gives an export all of its lines, in order and each once', async () => {
    await using store = await scriptedStore(holding(9));
    const found: string[] = [];
    for await (const batch of storeAt(store.url, { pageSize: 30 }).export(SELECTION, 'asc', call())) {
      found.push(...Array.from(batch, ({ log }) => log));
    }
    expect(found).to.deep.equal(IDS);
  });

  it('is unavailable when it has none for a single line, and says so in words of ours', async () => {
    await using store = await scriptedStore(holding(0));
    const request = { order: 'asc', size: 3, from: 0 } as const;
    const error = await queryPage(storeAt(store.url), {
      selection: SELECTION,
      request,
      deadline: new Deadline(call(), Date.now),
    }).catch((caught: unknown) => caught);
    expect(isStoreExhausted(error)).to.equal(true);
    expect(error).to.include({ code: 503 });
    expect(String(error)).not.to.match(/parent|10\.0\.0\.1/);
  });
});
