import { expect } from 'chai';
import {
  allOf,
  anyOf,
  NOTHING,
  wildcard,
} from '../../../../../../../server/logging/backends/opensearch/searches/clause.ts';

describe('a clause', () => {
  it('that looks for a text takes no character of it for a sign of a pattern', () => {
    expect(wildcard('log', 'a*b?c\\d', false)).to.deep.equal({
      wildcard: { log: { value: '*a\\*b\\?c\\\\d*' } },
    });
  });

  it('of none of several holds for nothing, and of all of none for everything', () => {
    const [one, two] = [{ term: { a: 'b' } }, { term: { c: 'd' } }];
    expect(anyOf([])).to.equal(NOTHING);
    expect(anyOf([one])).to.equal(one);
    expect(anyOf([one, two])).to.deep.equal({ bool: { should: [one, two], minimum_should_match: 1 } });
    expect(allOf([])).to.deep.equal({ match_all: {} });
    expect(allOf([one])).to.equal(one);
    expect(allOf([one, two])).to.deep.equal({ bool: { filter: [one, two] } });
  });
});
