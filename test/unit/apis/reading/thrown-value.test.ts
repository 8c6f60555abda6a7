// Tests of the message and the error code of caught values.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { codeOf, messageOf } from '../../../../apis/reading/thrown-value.ts';

describe('a caught value', () => {
  it('has the message of an Error, else its string', () => {
    expect(messageOf(new TypeError('is none'))).to.equal('is none');
    expect([messageOf('just text'), messageOf(undefined)]).to.deep.equal(['just text', 'undefined']);
  });

  it('has the code of an Error with one', () => {
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
