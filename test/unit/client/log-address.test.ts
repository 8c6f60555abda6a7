// Tests of the query of a view of logs in the address of its page.
import { expect } from 'chai';
import { logFiltersIn, relativeRangeIn, timeRangeIn } from '../../../client/index.ts';

describe('the query of logs in an address', () => {
  it('has the default time range for an unknown one', () => {
    for (const last of ['constructor', '__proto__', 'toString', '', '99d']) {
      const address = new URLSearchParams({ last });
      expect(relativeRangeIn(address), last).to.equal('1h');
      const range = { start_time: 3_600, end_time: 7_200 };
      expect(timeRangeIn(address, 7_200_000), last).to.deep.equal(range);
    }
    const range = { start_time: 6_900, end_time: 7_200 };
    expect(timeRangeIn(new URLSearchParams({ last: '5m' }), 7_200_000)).to.deep.equal(range);
  });

  it('can have an absolute time range', () => {
    const address = new URLSearchParams({ last: '5m', start_time: '100', end_time: '200' });
    expect(relativeRangeIn(address)).to.equal(undefined);
    expect(timeRangeIn(address)).to.deep.equal({ start_time: 100, end_time: 200 });
    expect(timeRangeIn(new URLSearchParams({ start_time: '-1', end_time: '7200' }))).to.deep.equal({
      start_time: 3_600,
      end_time: 7_200,
    });
  });

  it('has only the known filters, each value once', () => {
    expect(logFiltersIn(new URLSearchParams('__proto__=1&constructor=2&size=9&pods=a,b'))).to.deep.equal({
      pods: ['a', 'b'],
    });
    const address = new URLSearchParams('namespace=shop&namespaces=shop, cart&level=&log_query=slow');
    expect(logFiltersIn(address)).to.deep.equal({ namespaces: ['shop', 'cart'], log_query: 'slow' });
  });
});
