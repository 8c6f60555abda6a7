// Tests of the decision which requests are traced.
import { expect } from 'chai';
import { REQUESTED_SAMPLES, Sampler } from '../../../../server/tracing/sampler.ts';

function sampler({ rate = 0, random = 0 } = {}) {
  const clock = { now: 0 };
  return {
    clock,
    made: new Sampler({ ratePerMillion: rate, random: () => random, monotonic: () => clock.now }),
  };
}

/** The number of samples that `made` grants to each of the callers who request `each` samples, one after the other. */
function granted(made: Sampler, callers: readonly string[], each = 1_000): number[] {
  return callers.map(
    (caller) => Array.from({ length: each }, () => made.grants(caller)).filter(Boolean).length,
  );
}

describe('the sampler', () => {
  it('samples the configured share, and nothing with the rate 0', () => {
    expect(sampler({ rate: 0, random: 0 }).made.samples()).to.equal(false);
    expect(sampler({ rate: 1, random: 0 }).made.samples()).to.equal(true);
    expect(sampler({ rate: 10_000, random: 0.0099 }).made.samples()).to.equal(true);
    expect(sampler({ rate: 10_000, random: 0.01 }).made.samples()).to.equal(false);
    expect(sampler({ rate: 1_000_000, random: 0.999_999_9 }).made.samples()).to.equal(true);
  });

  it('grants a caller a bounded number of samples per second', () => {
    const { made, clock } = sampler();
    const { caller } = REQUESTED_SAMPLES;
    expect(granted(made, ['user mallory'])).to.deep.equal([caller]);
    expect(granted(made, ['user ada'], 1)).to.deep.equal([1]);
    clock.now = 999;
    expect(granted(made, ['user mallory'])).to.deep.equal([0]);
    clock.now = 1_000;
    expect(granted(made, ['user mallory'])).to.deep.equal([caller]);
  });

  it('grants all callers together a bounded number, however many they are', () => {
    const { made } = sampler();
    const crowd = Array.from({ length: 10_000 }, (_, i) => `user ${i}`);
    const sum = granted(made, crowd, 1).reduce((total, each) => total + each, 0);
    expect(sum).to.equal(REQUESTED_SAMPLES.all);
  });
});
