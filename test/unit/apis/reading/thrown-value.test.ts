import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { codeOf, messageOf } from '../../../../apis/reading/thrown-value.ts';

describe('what was caught', () => {
  it('has the message of an error, and else what it says of itself', () => {
    expect(messageOf(new TypeError('is none'))).to.equal('is none');
    expect([messageOf('just text'), messageOf(undefined)]).to.deep.equal(['just text', 'undefined']);
  });

  it('has a code when it is an error with one', () => {
    const fault = (path: string): unknown => {
      try {
        return readFileSync(path);
      } catch (error) {
        return error;
      }
    };
    expect(codeOf(fault('/no/such/file'))).to.equal('ENOENT');
    expect([codeOf(new Error('plain')), codeOf({ code: 'ENOENT' }), codeOf('ENOENT')]).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
