// Tests of the query in the address of the page.
import { expect } from 'chai';
import { filtersOf, lastOf, rangeOf } from '../../../../explore/logs/log-query.ts';

describe('the query of logs in the address', () => {
  it('has the default time range for an unknown one', () => {
    for (const name of ['constructor', '__proto__', 'toString', '', '99d']) {
      const query = new URLSearchParams({ last: name });
      expect(lastOf(query), name).to.equal('1h');
      expect(rangeOf(query, 7_200_000), name).to.deep.equal({ start_time: 3_600, end_time: 7_200 });
    }
    expect(rangeOf(new URLSearchParams({ last: '5m' }), 7_200_000)).to.deep.equal({
      start_time: 6_900,
      end_time: 7_200,
    });
  });

  it('has only the known filters', () => {
    expect(filtersOf(new URLSearchParams('__proto__=1&constructor=2&size=9&pods=a,b'))).to.deep.equal({
      pods: ['a', 'b'],
    });
  });
});
