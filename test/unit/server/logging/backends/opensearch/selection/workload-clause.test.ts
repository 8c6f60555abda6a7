import { expect } from 'chai';
import { workloadClause } from '../../../../../../../server/logging/backends/opensearch/selection/name-clauses.ts';

const POD = { fields: [{ name: 'pod', indices: undefined }], missing: [], of: 1 };

/** The patterns that the clause asks for, whatever is around them. */
function patternsIn(clause: unknown): string[] {
  return [...JSON.stringify(clause).matchAll(/"regexp":\{"pod":\{"value":"((?:[^"\\]|\\.)*)"/g)].map(
    ([, value = '']) => String(JSON.parse(`"${value}"`)),
  );
}

describe('the clause for pods of workloads', () => {
  it('names what stands before and behind the names once for many of them', () => {
    const [pattern = '', ...more] = patternsIn(workloadClause({ exact: ['cart', 'a.b'] }, POD));
    expect(more).to.deep.equal([]);
    expect(pattern).to.match(/^\(cart\|a\\\.b\)\(/);
    const [begun = ''] = patternsIn(workloadClause({ contains: ['CART', 'shop'] }, POD));
    expect(begun)
      .to.include('(cart|shop)')
      .and.not.to.match(/^\(cart/);
  });

  it('is few patterns, none longer than an index takes, for as many workloads as may be asked for', () => {
    for (const how of ['exact', 'contains'] as const) {
      const names = Array.from({ length: 1_000 }, (_, n) => `the-service-of-a-team-${n}`);
      const patterns = patternsIn(workloadClause({ [how]: names }, POD));
      expect(patterns.length).to.be.within(2, 50);
      for (const pattern of patterns) expect(pattern.length).to.be.at.most(1_000);
      for (const name of names) expect(patterns.join('\n')).to.include(name.replaceAll('-', '\\-'));
    }
  });

  it('finds nothing for no workloads', () => {
    expect(workloadClause({ exact: [] }, POD)).to.deep.equal({ match_none: {} });
  });
});
