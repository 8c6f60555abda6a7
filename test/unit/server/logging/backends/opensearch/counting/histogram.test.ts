import { expect } from 'chai';
import { storeAt } from '../../../../../../support/logging/opensearch-store.ts';
import { answer, call, SELECTION, scriptedStore } from '../scripted-store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const BEGIN = Date.parse(SELECTION.range.start);
const BUCKETS = { edges: [0, 1, 2, 3].map((n) => BEGIN + n * HOUR) };

async function counted(begins: readonly number[]): Promise<readonly number[]> {
  const buckets = begins.map((key) => ({ key, doc_count: 2 }));
  await using store = await scriptedStore(() => answer([], { aggregations: { by: { buckets } } }));
  const { counts } = await storeAt(store.url).histogram(SELECTION, BUCKETS, call());
  return counts;
}

describe('a histogram out of OpenSearch', () => {
  it('leaves out the other times of a line that has several', async () => {
    const begins = [-DAY, -HOUR, HOUR, 3 * HOUR, DAY].map((offset) => BEGIN + offset);
    expect(await counted(begins)).to.deep.equal([0, 2, 0]);
  });

  it('is none where buckets begin elsewhere than they should', async () => {
    const error: unknown = await counted([BEGIN + HOUR + 1]).catch((failure: unknown) => failure);
    expect(error).to.include({ code: 503 });
    expect(error).to.have.nested.property('cause.message', 'a bucket begins elsewhere');
  });
});
