import { expect } from 'chai';
import { causesOf } from '../../support/failure-notes.ts';

describe('the causes of a failure', () => {
  it('are told one after the other, the nearest first', () => {
    const error = new Error('far', { cause: new Error('nearer', { cause: 'the root' }) });
    expect(causesOf(error)).to.equal('Caused by: Error: nearer\nCaused by: the root\n');
  });

  it('are none where there are none', () => {
    expect(causesOf(new Error('alone'))).to.equal('');
    expect(causesOf('no error')).to.equal('');
  });

  it('come to an end where an error is the cause of itself', () => {
    const error = new Error('round');
    error.cause = error;
    expect(causesOf(error).split('\n')).to.have.length(11);
  });
});
