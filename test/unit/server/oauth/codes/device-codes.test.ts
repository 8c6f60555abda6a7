// Tests of the user codes of the device flow.
import { expect } from 'chai';
import { newUserCode } from '../../../../../server/oauth/codes/device-codes.ts';

describe('a user code', () => {
  it('discards bytes that would bias the letters', () => {
    const bytes = [255, 250, 240, 239, 0, 19, 20];
    expect(newUserCode((count) => Buffer.from([...bytes, 1].slice(0, count)))).to.equal('ZBZB-CZBZ');
  });
});
