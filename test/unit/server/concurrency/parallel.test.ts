// Tests of inParallel, which limits concurrent calls.
import { expect } from 'chai';
import { inParallel } from '../../../../server/concurrency/parallel.ts';

describe('inParallel', () => {
  it('limits concurrency', async () => {
    let [running, most] = [0, 0];
    await inParallel(3, Array.from({ length: 10 }), async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    });
    expect(most).to.equal(3);
  });

  it('starts nothing after the first failure', async () => {
    const begun: number[] = [];
    const failing = inParallel(2, [0, 1, 2, 3, 4, 5], async (item) => {
      begun.push(item);
      await new Promise((resolve) => setImmediate(resolve));
      if (item === 0) throw new Error('the first one failed');
    });
    const error = await failing.catch((reason: unknown) => reason);
    // In this time, the second call completes.
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(error).to.have.property('message', 'the first one failed');
    expect(begun).to.deep.equal([0, 1]);
  });
});
