// Tests of the rate limit of log lines for repeated failures.
import { expect } from 'chai';
import { RepeatedFailure } from '../../../../server/observability/repeated-failure.ts';

describe('RepeatedFailure', () => {
  it('logs the first failure, a different one, and a reminder each minute', () => {
    let now = 0;
    const failure = new RepeatedFailure(() => now);
    const tells: boolean[] = [];
    for (const [at, what] of [
      [0, 'away'],
      [10_000, 'away'],
      [20_000, 'forbidden'],
      [79_999, 'forbidden'],
      [80_000, 'forbidden'],
      [80_001, 'forbidden'],
    ] as const) {
      now = at;
      tells.push(failure.isNews(what));
    }
    expect(tells).to.deep.equal([true, false, true, false, true, false]);
  });

  it('starts again after a success', () => {
    const failure = new RepeatedFailure(() => 0);
    failure.isNews('away');
    failure.isNews('away');
    expect([failure.count, failure.end(), failure.count]).to.deep.equal([2, 2, 0]);
    expect(failure.isNews('away')).to.equal(true);
  });
});
