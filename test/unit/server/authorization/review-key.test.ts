import { expect } from 'chai';
import { reviewKey } from '../../../../server/authorization/review-key.ts';

describe('what an access review is kept by', () => {
  it('is short, however long the question, and another one for another question', () => {
    const questions = ['a', 'b'.repeat(1024), 'c'.repeat(1025), 'd'.repeat(16 * 1024)];
    const keys = questions.map((question) => reviewKey(question) ?? '');
    for (const key of keys) expect(key).to.have.length.within(1, 1024);
    expect(reviewKey(`${'d'.repeat(16 * 1024 - 1)}e`)).not.to.equal(keys[3]);
    expect(new Set(keys).size).to.equal(4);
  });

  it('is nothing for a question of a monstrous size', () => {
    expect(reviewKey('x'.repeat(16 * 1024 + 1))).to.equal(undefined);
  });
});
