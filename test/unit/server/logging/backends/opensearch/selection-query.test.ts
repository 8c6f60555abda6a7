// Tests of the OpenSearch queries that log queries become.
import { expect } from 'chai';
import type { Selection } from '../../../../../../server/logging/store/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { SELECTION, scriptedStore, searchResponse } from './scripted-store.ts';

const PAGE = { order: 'asc', size: 1, from: 0 } as const;
const MIDNIGHT = Date.parse(SELECTION.range.start);

/** Namespaces that were created one second after the other from the start of the range on. */
function recreated(count: number): Selection {
  const namespaces = Array.from({ length: count }, (_, n) => ({
    name: `team-${n}`,
    since: new Date(MIDNIGHT + (n + 1) * 1_000).toISOString().replace('Z', '000000Z'),
  }));
  return { ...SELECTION, scope: { everything: false, namespaces } };
}

interface Bool {
  readonly filter: readonly Record<string, unknown>[];
  readonly must_not?: readonly { readonly bool: { readonly filter: readonly unknown[] } }[];
}

async function queryFor(selection: Selection) {
  await using store = await scriptedStore(() => searchResponse([]));
  const backend = storeAt(store.url, { wallClock: () => MIDNIGHT });
  const { shortfalls } = await backend.query(selection, PAGE, call());
  const { query } = store.requests.at(-1)?.body ?? {};
  return { ...(query as { readonly bool: Bool }), shortfalls };
}

describe('the query for a selection', () => {
  it('rounds creation times of namespaces up, and reports it, if more than 250 are needed', async () => {
    const { bool, shortfalls } = await queryFor(recreated(1_000));
    expect(bool.must_not?.length).to.be.within(100, 250);
    expect(shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
    const bounds = new Map(
      (bool.must_not ?? []).flatMap(({ bool: { filter } }) => {
        const [names, range] = filter as [
          { terms: Record<string, string[]> },
          { range: { time: { lt: string } } },
        ];
        return Object.values(names.terms)
          .flat()
          .map((name) => [name, range.range.time.lt] as const);
      }),
    );
    for (let n = 0; n < 1_000; n++) {
      const since = new Date(MIDNIGHT + (n + 1) * 1_000).toISOString().replace('Z', '000000Z');
      expect((bounds.get(`team-${n}`) ?? '') >= since, `team-${n}`).to.equal(true);
    }
  });

  it('fails if the search for earlier lines is partial or invalid', async () => {
    for (const rest of [
      { _shards: { total: 2, successful: 1, skipped: 0, failed: 1 } },
      { aggregations: { names: { buckets: [{ doc_count: 1 }] } } },
    ]) {
      await using store = await scriptedStore(() => searchResponse([], rest));
      const backend = storeAt(store.url, { wallClock: () => MIDNIGHT + 86_400_000 });
      expect(await rejection(backend.query(recreated(500), PAGE, call()))).to.include({ code: 503 });
    }
  });

  for (const [what, selection] of [
    ['the case of words', { text: { mode: 'phrase', texts: ['Error'], caseSensitive: true } }],
    ['long parts of names', { pods: { contains: Array.from({ length: 50 }, () => 'x'.repeat(200)) } }],
  ] as const satisfies readonly (readonly [string, Partial<Selection>])[]) {
    it(`rejects ${what} with a message that says what to change`, async () => {
      const error = await rejection(queryFor({ ...SELECTION, ...selection }));
      expect(error).to.include({ code: 400 }).and.to.match(/use /);
    });
  }
});
