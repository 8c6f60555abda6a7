// Tests of the OpenSearch queries that log queries become.
import { expect } from 'chai';
import type { Selection } from '../../../../../../server/logging/log-store.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { call, type ScriptedStore, SELECTION, scriptedStore, searchResponse } from './scripted-store.ts';

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

function lastQuery({ requests }: ScriptedStore): Bool {
  const { query } = requests.at(-1)?.body ?? {};
  return (query as { bool: Bool }).bool;
}

async function queryFor(selection: Selection) {
  await using store = await scriptedStore(() => searchResponse([]));
  const { shortfalls } = await storeAt(store.url, { wallClock: () => MIDNIGHT }).query(
    selection,
    PAGE,
    call(),
  );
  return { bool: lastQuery(store), shortfalls };
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
      const error = await backend.query(recreated(500), PAGE, call()).catch((caught: unknown) => caught);
      expect(error).to.include({ code: 503 });
    }
  });

  for (const [what, selection] of [
    ['the case of words', { text: { mode: 'phrase', texts: ['Error'], caseSensitive: true } }],
    ['long parts of names', { pods: { contains: Array.from({ length: 50 }, () => 'x'.repeat(200)) } }],
  ] as const satisfies readonly (readonly [string, Partial<Selection>])[]) {
    it(`rejects ${what} with a message that says what to change`, async () => {
      const error = await queryFor({ ...SELECTION, ...selection }).catch((caught: unknown) => caught);
      expect(error).to.include({ code: 400 });
      expect(error).to.have.property('message').that.matches(/use /);
    });
  }
});
