// Tests of the message of a caught value.
import { expect } from 'chai';
import { messageOf } from '../../../../apis/reading/thrown-value.ts';

describe('messageOf', () => {
  it('omits the flag that Node recommends for an unknown CA', () => {
    const message =
      'unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca';
    expect(messageOf(new Error(message))).to.equal('unable to verify the first certificate');
  });

  it('returns other messages and values unchanged', () => {
    expect(messageOf(new Error('no such file'))).to.equal('no such file');
    expect(messageOf(7)).to.equal('7');
  });
});
