// Tests of the diagnostics for failed tests.
import { expect } from 'chai';
import { causeOf } from '../../support/failure-notes.ts';

describe('the cause of a failure', () => {
  it('includes its causes', () => {
    const error = new Error('far', { cause: new Error('nearer', { cause: 'the root' }) });
    expect(causeOf(error)).to.match(/^Caused by: Error: nearer\n[^]*the root[^]*\n$/);
  });

  it('is empty without a cause', () => {
    expect(causeOf(new Error('alone'))).to.equal('');
    expect(causeOf('no error')).to.equal('');
  });
});
