// Tests of the backoff of a reflector after failures.
import { expect } from 'chai';
import { newServiceUnavailable, StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { ReflectorBackoff } from '../../../../../server/cluster/reflector/reflector-retry.ts';

const HEALTHY = 10_000;
const failure = newServiceUnavailable('away');

describe('ReflectorBackoff', () => {
  let backoff: ReflectorBackoff;

  beforeEach(() => {
    const waits = { initialBackoffMs: 100, maxBackoffMs: 1_000, random: () => 0 };
    backoff = new ReflectorBackoff({ healthyMs: HEALTHY, ...waits }, () => 0);
  });

  it('resets after a long attempt, and is zero if that attempt ended normally', () => {
    for (const lived of [0, HEALTHY - 1]) backoff.after(failure, lived);
    expect(backoff.after(failure, HEALTHY)).to.equal(50);
    backoff.after(failure, 0);
    expect(backoff.after(undefined, HEALTHY)).to.equal(0);
    expect(backoff.after(failure, 0)).to.equal(50);
  });

  it('honours the Retry-After of a 429 within its limit', () => {
    const refused = (retryAfterSeconds: number): StatusError =>
      new StatusError(429, 'TooManyRequests', 'later', { retryAfterSeconds });
    expect(backoff.after(refused(0.3), 0)).to.equal(300);
    expect(backoff.after(refused(60), 0)).to.equal(1_000);
  });

  it('tries a missing permission slowly, at first quickly, and again quickly after a success', () => {
    const forbidden = new StatusError(403, 'Forbidden', 'no');
    const delays = Array.from({ length: 12 }, () => backoff.after(forbidden, 0));
    expect(delays[0]).to.equal(50);
    expect(delays.at(-1)).to.equal(7_500);
    expect(backoff.after(undefined, HEALTHY)).to.equal(0);
    expect(backoff.after(forbidden, 0)).to.equal(50);
  });
});
