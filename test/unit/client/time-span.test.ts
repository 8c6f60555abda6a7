// Tests of spans of time as texts.
import { expect } from 'chai';
import { spanOf } from '../../../client/index.ts';

describe('a span of time', () => {
  it('has its largest unit', () => {
    const seconds = [-5, 0, 59.9, 60, 5_400, 86_399, 86_400, 400 * 86_400];
    expect(seconds.map((each) => spanOf(each * 1000))).to.deep.equal([
      '0s',
      '0s',
      '59s',
      '1m',
      '1h',
      '23h',
      '1d',
      '400d',
    ]);
  });
});
