// Tests of the throttle of password sign-ins.
import { expect } from 'chai';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import {
  type CountedAttempt,
  LoginThrottle,
  type LoginThrottleOptions,
  type ThrottleRecord,
} from '../../../../../server/oauth/throttle/login-throttle.ts';

const LIMITS = {
  failures: 3,
  sourceFailures: 6,
  delay: 1000,
  maxDelay: 900_000,
  reset: 3_600_000,
  entries: 1000,
};
const HOME = '192.0.2.1';
const OTHER_SOURCE = '198.51.100.9';

class Scene {
  now = 1_000_000;
  readonly records: ThrottleRecord[] = [];
  readonly throttle: LoginThrottle;

  constructor(options: Partial<LoginThrottleOptions> = {}) {
    this.throttle = new LoginThrottle({
      limits: LIMITS,
      digest: (kind, value) => `${kind}.${value}`,
      changed: (record) => this.records.push(record),
      now: () => this.now,
      ...options,
    });
  }

  begin(account: string, source = HOME): CountedAttempt {
    const attempt = this.throttle.attempt(account, source);
    attempt.begin();
    return attempt;
  }

  fail(account: string, source = HOME, times = 1): void {
    for (let i = 0; i < times; i++) this.begin(account, source).failed();
  }

  succeed(account: string, source = HOME): void {
    this.begin(account, source).succeeded();
  }

  /** Seconds to wait; 0 when an attempt may begin. */
  wait(account: string, source = HOME): number {
    try {
      this.begin(account, source)[Symbol.dispose]();
      return 0;
    } catch (error) {
      return secondsIn(error);
    }
  }
}

/** Of a delay. */
function secondsIn(error: unknown): number {
  if (error instanceof StatusError && error.code === 429) return error.details?.retryAfterSeconds ?? -1;
  throw error;
}

describe('the login throttle', () => {
  let scene: Scene;
  beforeEach(() => {
    scene = new Scene();
  });

  it('allows fewer guesses for a person of a directory than Windows does before it locks the account', () => {
    scene = new Scene({ limits: { ...LIMITS, failures: 5, reset: 12 * 3_600_000 } });
    const attempts: number[] = [];
    const begin = scene.now;
    while (scene.now < begin + 86_400_000) {
      try {
        const attempt = scene.throttle.attempt('ann', `203.0.113.${attempts.length % 250}`, 'person');
        attempt.begin();
        attempt.failed();
        attempts.push(scene.now);
      } catch (error) {
        scene.now += secondsIn(error) * 1000;
      }
    }
    for (const [minutes, most] of [
      [10, 7],
      [30, 9],
    ] as const) {
      const inWindow = (end: number) => attempts.filter((at) => at <= end && at > end - minutes * 60_000);
      expect(Math.max(...attempts.map((at) => inWindow(at).length)), `${minutes}`).to.equal(most);
    }
  });

  it('delays an account after failures, and doubles the delay after each further one, up to the maximum', () => {
    const waits: number[] = [];
    for (let i = 0; i < 15; i++) {
      // A new source each time, so that only the account is throttled.
      scene.fail('alice', `203.0.113.${i}`);
      const seconds = scene.wait('alice', '203.0.113.99');
      waits.push(seconds);
      scene.now += seconds * 1000;
    }
    expect(waits.slice(0, 5)).to.deep.equal([0, 0, 1, 2, 4]);
    expect(waits.slice(11)).to.deep.equal([512, 900, 900, 900]);
  });

  it('delays a source that fails with many accounts, for at most a minute', () => {
    for (let i = 0; i < LIMITS.sourceFailures; i++) scene.fail(`user${i}`);
    expect(scene.wait('another')).to.equal(1);
    expect(scene.wait('another', OTHER_SOURCE)).to.equal(0);
    for (let i = 0; i < 20; i++) {
      scene.now += scene.wait(`later${i}`) * 1000;
      scene.fail(`later${i}`);
    }
    expect(scene.wait('another')).to.equal(60);
  });

  it('treats the /64 network of an IPv6 address as one source', () => {
    for (let i = 0; i < LIMITS.sourceFailures; i++) scene.fail(`user${i}`, `2001:db8::${i}`);
    expect(scene.wait('another', '2001:db8:0:0:ffff::1')).to.equal(1);
    expect(scene.wait('another', '2001:db8:0:1::1')).to.equal(0);
  });

  it('counts pending attempts as failures, and gives those that were cancelled back', () => {
    const waiting = scene.throttle.attempt('alice', HOME);
    const running = [1, 2, 3].map(() => scene.begin('alice'));
    expect(() => waiting.begin())
      .to.throw(StatusError)
      .with.property('code', 429);
    expect(scene.wait('alice', OTHER_SOURCE)).to.equal(1);
    for (const attempt of running) attempt[Symbol.dispose]();
    waiting.begin();
    waiting.failed();
    expect(scene.wait('alice')).to.equal(0);
    scene.fail('alice', HOME, 2);
    expect(scene.wait('alice')).to.equal(1);
  });

  it('treats a source as known for thirty days', () => {
    for (const [later, wait] of [
      [0, 0],
      [1, 1],
    ] as const) {
      scene = new Scene();
      scene.succeed('alice', HOME);
      scene.now += 30 * 86_400_000 + later;
      scene.fail('alice', OTHER_SOURCE, 3);
      expect(scene.wait('alice', HOME), `${later} ms later`).to.equal(wait);
    }
  });

  it('does not delay a user at a known source because of failures from other sources', () => {
    scene.succeed('alice', HOME);
    scene.fail('alice', OTHER_SOURCE, 3);
    expect(scene.wait('alice', OTHER_SOURCE)).to.equal(1);
    expect(scene.wait('alice', HOME)).to.equal(0);
    scene.succeed('alice', HOME);
    expect(scene.wait('alice', OTHER_SOURCE), 'after a success elsewhere').to.equal(1);
  });

  it('treats a source with an open session as known', () => {
    scene = new Scene({ isSignedIn: (account, network) => account === 'alice' && network === HOME });
    scene.fail('alice', OTHER_SOURCE, 3);
    expect(scene.wait('alice', HOME)).to.equal(0);
    expect(scene.wait('alice', '192.0.2.2')).to.equal(1);
  });

  it('does not delay a user at a known source because of failures of other users there', () => {
    scene.succeed('alice', HOME);
    for (let i = 0; i < LIMITS.sourceFailures; i++) scene.fail(`user${i}`, HOME);
    expect(scene.wait('bob', HOME)).to.equal(1);
    expect(scene.wait('alice', HOME)).to.equal(0);
  });

  it('delays failed attempts from a known source too, until a sign-in there succeeds', () => {
    scene.succeed('alice');
    scene.fail('alice', HOME, 3);
    expect(scene.wait('alice')).to.equal(1);
    scene.now += 1000;
    scene.succeed('alice');
    scene.fail('alice', HOME, 2);
    expect(scene.wait('alice')).to.equal(0);
  });

  it('shares each failure that causes a delay, and new known sources of a delayed account', () => {
    scene.succeed('alice', HOME);
    scene.fail('alice', OTHER_SOURCE, 2);
    expect(scene.records).to.have.length(0);
    scene.fail('alice', OTHER_SOURCE);
    expect(scene.records.at(-1)).to.deep.equal({
      key: 'account.alice',
      failures: 3,
      lastAt: scene.now,
      knownSources: [`source.${HOME}`],
    });
    scene.now += 1000;
    scene.succeed('alice', '192.0.2.7');
    expect(scene.records.at(-1)?.knownSources).to.deep.equal([`source.${HOME}`, 'source.192.0.2.7']);
  });

  describe('of another replica', () => {
    let there: Scene;
    beforeEach(() => {
      there = new Scene();
    });
    const share = (): void => {
      for (const record of scene.records.splice(0)) there.throttle.merge(record);
    };

    it('forgives the wrong codes at an address that only one replica knows', () => {
      const code = (replica: Scene): CountedAttempt => {
        const attempt = replica.throttle.attempt('alice', HOME, 'factor');
        attempt.begin();
        return attempt;
      };
      code(scene).succeeded();
      for (let count = 0; count < 3; count++) code(scene).failed();
      expect(() => code(scene)).to.throw(StatusError);
      for (const record of scene.records.splice(0)) there.throttle.merge(record);
      there.throttle.forgive('alice');
      for (const record of there.records.splice(0)) scene.throttle.merge(record);
      code(scene).succeeded();
    });

    it('merges records', () => {
      scene.succeed('alice', HOME);
      scene.fail('alice', OTHER_SOURCE, 3);
      share();
      expect(there.wait('alice', OTHER_SOURCE)).to.equal(1);
      expect(there.wait('alice', HOME)).to.equal(0);
    });

    it('merges the end of a delay, but keeps later local failures', () => {
      for (const replica of [scene, there]) replica.succeed('alice');
      scene.fail('alice', HOME, 3);
      share();
      expect(there.wait('alice')).to.equal(1);
      for (const replica of [scene, there]) replica.now += 1000;
      scene.succeed('alice');
      share();
      expect(there.wait('alice')).to.equal(0);
      there.fail('alice', HOME, 2);
      expect(there.wait('alice')).to.equal(0);

      scene.fail('alice', HOME, 3);
      share();
      there.now += 5000;
      scene.now += 1000;
      there.fail('alice', HOME);
      scene.succeed('alice');
      share();
      expect(there.wait('alice')).to.equal(2);
    });

    it('does not extend delays when a clock is ahead or was set back', () => {
      scene.now += 240_000;
      scene.fail('alice', OTHER_SOURCE, 3);
      share();
      expect(there.wait('alice', OTHER_SOURCE)).to.equal(1);
      scene.now -= 3_000_000;
      expect(scene.wait('alice', OTHER_SOURCE)).to.equal(1);
    });
  });

  it('ends all delays on clear', () => {
    scene.fail('alice', OTHER_SOURCE, 3);
    scene.throttle.clear();
    expect(scene.wait('alice', OTHER_SOURCE)).to.equal(0);
    scene.fail('alice', OTHER_SOURCE, 2);
    expect(scene.wait('alice', OTHER_SOURCE)).to.equal(0);
  });

  it('resets the failures of an account after a time without failures', () => {
    scene.fail('alice', OTHER_SOURCE, 3);
    expect(scene.throttle.size).to.equal(2);
    scene.now += LIMITS.reset + 1;
    expect(scene.throttle.size).to.equal(0);
    scene.fail('alice', OTHER_SOURCE, 2);
    expect(scene.wait('alice', OTHER_SOURCE)).to.equal(0);
  });

  describe('when it is full', () => {
    beforeEach(() => {
      scene = new Scene({ limits: { ...LIMITS, entries: 20, sourceFailures: 1_000_000 } });
    });

    it('keeps delaying buckets during a flood of new accounts', () => {
      scene.fail('alice', HOME, 3);
      for (let i = 0; i < 500; i++) scene.fail(`invented${i}`, HOME);
      expect(scene.wait('alice', OTHER_SOURCE)).to.equal(1);
      // Twenty accounts and one address.
      expect(scene.throttle.size).to.equal(21);
    });

    it('still counts failures of new accounts', () => {
      for (let i = 0; i < 20; i++) scene.fail(`attacked${i}`, HOME, 3);
      // Twenty accounts and one address.
      expect(scene.throttle.size).to.equal(21);
      scene.fail('alice', HOME, 3);
      expect(scene.wait('alice')).to.equal(1);
    });
  });
});
