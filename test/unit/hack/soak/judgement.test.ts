// Tests of the judgement of the soak test: which series grow.
import { expect } from 'chai';
import { judge, warmUpSeconds } from '../../../../hack/soak/judgement.ts';

const MEMORY = { share: 0.1, least: 16 };
const HOUR_S = 3600;

/** A point every ten seconds over an hour. `noise`: deterministic, from -1 to 1. */
function series(value: (hours: number, noise: number) => number) {
  return Array.from({ length: 360 }, (_, index) => ({
    at: index * 10,
    value: value((index * 10) / HOUR_S, ((index * 7919) % 200) / 100 - 1),
  }));
}

const verdictOf = (...value: Parameters<typeof series>): string => judge(series(...value), MEMORY).verdict;

describe('the judgement of the soak test', () => {
  it('reports a leak below noise as growing, with its slope', () => {
    const { verdict, perHour, limit } = judge(
      series((hours, noise) => 200 + 40 * hours + 30 * noise),
      MEMORY,
    );
    expect(verdict).to.equal('GROWING');
    expect(perHour).to.be.closeTo(40, 5);
    expect(limit).to.be.closeTo(20, 3);
  });

  it('reports a noisy flat series, spikes and a decline as flat', () => {
    expect(verdictOf((_hours, noise) => 200 + 60 * noise)).to.equal('FLAT');
    expect(verdictOf((hours) => (hours > 0.9 ? 400 : 200))).to.equal('FLAT');
    expect(verdictOf((hours) => 200 - 100 * hours)).to.equal('FLAT');
  });

  it('judges a heap by what is left after garbage collections', () => {
    const heap = { ...MEMORY, leastWithin: 180 };
    const garbage = (hours: number, noise: number): number => 60 * hours * (1 + noise);
    const steady = series((hours, noise) => 80 + garbage(hours, noise));
    expect(judge(steady, MEMORY).verdict).to.equal('GROWING');
    expect(judge(steady, heap).verdict).to.equal('FLAT');
    const leak = series((hours, noise) => 80 + 30 * hours + garbage(hours, noise));
    expect(judge(leak, heap).verdict).to.equal('GROWING');
  });

  it('tolerates growth below the fixed amount', () => {
    expect(verdictOf((hours) => 10 + 15 * hours)).to.equal('FLAT');
    expect(verdictOf((hours) => 10 + 30 * hours)).to.equal('GROWING');
  });

  it('does not judge a series of a few points', () => {
    expect(judge(series((hours) => 100 * hours).slice(0, 5), MEMORY).verdict).to.equal('TOO SHORT');
    expect(judge([], MEMORY).verdict).to.equal('TOO SHORT');
  });

  it('skips a warm-up of five minutes or a fifth, but at most half', () => {
    expect([120, 1200, HOUR_S].map(warmUpSeconds)).to.deep.equal([60, 300, 720]);
  });
});
