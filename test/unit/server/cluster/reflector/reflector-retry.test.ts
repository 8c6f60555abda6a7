// Tests of the backoff of a reflector after failures.
import { expect } from 'chai';
import { newExpired, newServiceUnavailable, StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { ReflectorBackoff } from '../../../../../server/cluster/reflector/reflector-retry.ts';

const HEALTHY = 10_000;
const failure = newServiceUnavailable('away');

describe('ReflectorBackoff', () => {
  let now: number;
  let backoff: ReflectorBackoff;

  beforeEach(() => {
    now = 0;
    const waits = { initialBackoffMs: 100, maxBackoffMs: 1_000, random: () => 0 };
    backoff = new ReflectorBackoff({ healthyMs: HEALTHY, ...waits }, () => now);
  });

  it('grows with each attempt, including attempts that end at once without a failure', () => {
    const waits = [failure, undefined, failure, undefined, failure].map((each) => backoff.after(each, 0));
    expect(waits).to.deep.equal([50, 100, 200, 400, 500]);
  });

  it('resets after a long attempt, and is zero if that attempt ended normally', () => {
    for (const lived of [0, HEALTHY - 1]) backoff.after(failure, lived);
    expect(backoff.after(failure, HEALTHY)).to.equal(50);
    backoff.after(failure, 0);
    expect(backoff.after(undefined, HEALTHY)).to.equal(0);
    expect(backoff.after(failure, 0)).to.equal(50);
  });

  it('resets when the resourceVersion has expired, but not twice in a row', () => {
    for (let n = 0; n < 5; n++) backoff.after(failure, 0);
    const lost = newExpired('too old resource version');
    expect([lost, lost, lost].map((each) => backoff.after(each, 0))).to.deep.equal([50, 100, 200]);
    now = HEALTHY;
    expect(backoff.after(lost, 0)).to.equal(50);
  });

  it('honours the Retry-After of a 429 within its limit', () => {
    const refused = (retryAfterSeconds: number): StatusError =>
      new StatusError(429, 'TooManyRequests', 'later', { retryAfterSeconds });
    expect(backoff.after(refused(0.3), 0)).to.equal(300);
    expect(backoff.after(refused(60), 0)).to.equal(1_000);
  });
});
