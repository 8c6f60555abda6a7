// Tests of the throttle of password sign-ins.
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import {
  LoginThrottle,
  type LoginThrottleOptions,
  type Reservation,
  type ThrottleRecord,
} from '../../../../../server/oauth/throttle/login-throttle.ts';
import { rejection } from '../../../../support/rejection.ts';

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

  reserve(account: string, source = HOME): Promise<Reservation> {
    return this.throttle.reserve(account, source);
  }

  async fail(account: string, source = HOME, times = 1): Promise<void> {
    for (let i = 0; i < times; i++) (await this.reserve(account, source)).failed();
  }

  async succeed(account: string, source = HOME): Promise<void> {
    (await this.reserve(account, source)).succeeded();
  }

  /** Seconds to wait; 0 when an attempt may begin. */
  async wait(account: string, source = HOME): Promise<number> {
    try {
      (await this.reserve(account, source)).cancelled();
      return 0;
    } catch (error) {
      if (error instanceof StatusError && error.code === 429) return error.details?.retryAfterSeconds ?? -1;
      throw error;
    }
  }
}

describe('the login throttle', () => {
  let scene: Scene;
  beforeEach(() => {
    scene = new Scene();
  });

  it('delays an account after failures, and doubles the delay after each further one, up to the maximum', async () => {
    const waits: number[] = [];
    for (let i = 0; i < 15; i++) {
      // A new source each time, so that only the account is throttled.
      await scene.fail('alice', `203.0.113.${i}`);
      const seconds = await scene.wait('alice', '203.0.113.99');
      waits.push(seconds);
      scene.now += seconds * 1000;
    }
    expect(waits.slice(0, 5)).to.deep.equal([0, 0, 1, 2, 4]);
    expect(waits.slice(11)).to.deep.equal([512, 900, 900, 900]);
  });

  it('delays a source that fails with many accounts, for at most a minute', async () => {
    for (let i = 0; i < LIMITS.sourceFailures; i++) await scene.fail(`user${i}`);
    expect(await scene.wait('another')).to.equal(1);
    expect(await scene.wait('another', OTHER_SOURCE)).to.equal(0);
    for (let i = 0; i < 20; i++) {
      scene.now += (await scene.wait(`later${i}`)) * 1000;
      await scene.fail(`later${i}`);
    }
    expect(await scene.wait('another')).to.equal(60);
  });

  it('treats the /64 network of an IPv6 address as one source', async () => {
    for (let i = 0; i < LIMITS.sourceFailures; i++) await scene.fail(`user${i}`, `2001:db8::${i}`);
    expect(await scene.wait('another', '2001:db8:0:0:ffff::1')).to.equal(1);
    expect(await scene.wait('another', '2001:db8:0:1::1')).to.equal(0);
  });

  it('limits pending attempts to the number of failures before the next delay', async () => {
    const running = await Promise.all([1, 2, 3].map(() => scene.reserve('alice')));
    const fourth = scene.reserve('alice');
    expect(await Promise.race([fourth.then(() => 'begun'), Promise.resolve('waits')])).to.equal('waits');
    for (const reservation of running) reservation.failed();
    expect(await rejection(fourth)).to.have.property('code', 429);
  });

  it('treats a source as known for thirty days', async () => {
    for (const [later, wait] of [
      [0, 0],
      [1, 1],
    ] as const) {
      scene = new Scene();
      await scene.succeed('alice', HOME);
      scene.now += 30 * 86_400_000 + later;
      await scene.fail('alice', OTHER_SOURCE, 3);
      expect(await scene.wait('alice', HOME), `${later} ms later`).to.equal(wait);
    }
  });

  it('bounds the number of waiting attempts, and their time, which the end of other attempts does not extend', async () => {
    scene = new Scene({ waitLimits: { timeoutMs: 50, length: 1 } });
    await Promise.all([1, 2, 3].map(() => scene.reserve('alice')));
    const over = new AbortController();
    const waiting = rejection(scene.reserve('alice')).finally(() => over.abort());
    const surplus = await rejection(scene.reserve('alice'));
    expect(surplus, 'beyond the number of waiting attempts').to.include({ code: 503 });
    for (let i = 0; i < 100 && !over.signal.aborted; i++) {
      await setTimeout(5);
      await scene.succeed('bob');
    }
    expect(over.signal.aborted).to.equal(true);
    expect(await waiting).to.include({ code: 503 });
  });

  it('starts a waiting attempt when another one ends, and has a separate queue for known sources', async () => {
    scene = new Scene({ waitLimits: { timeoutMs: 30_000, length: 1 } });
    await scene.succeed('alice', HOME);
    const waiting: Promise<Reservation>[] = [];
    const running: Reservation[] = [];
    for (const source of [OTHER_SOURCE, HOME]) {
      running.push(...(await Promise.all([1, 2, 3].map(() => scene.reserve('alice', source)))));
      waiting.push(scene.reserve('alice', source));
    }
    for (const reservation of running) reservation.cancelled();
    for (const reservation of await Promise.all(waiting)) reservation.cancelled();
  });

  it('does not delay a user at a known source because of failures from other sources', async () => {
    await scene.succeed('alice', HOME);
    await scene.fail('alice', OTHER_SOURCE, 3);
    expect(await scene.wait('alice', OTHER_SOURCE)).to.equal(1);
    expect(await scene.wait('alice', HOME)).to.equal(0);
    await scene.succeed('alice', HOME);
    expect(await scene.wait('alice', OTHER_SOURCE), 'after a success elsewhere').to.equal(1);
  });

  it('treats a source with an open session as known', async () => {
    scene = new Scene({ isSignedIn: (account, network) => account === 'alice' && network === HOME });
    await scene.fail('alice', OTHER_SOURCE, 3);
    expect(await scene.wait('alice', HOME)).to.equal(0);
    expect(await scene.wait('alice', '192.0.2.2')).to.equal(1);
  });

  it('does not delay a user at a known source because of failures of other users there', async () => {
    await scene.succeed('alice', HOME);
    for (let i = 0; i < LIMITS.sourceFailures; i++) await scene.fail(`user${i}`, HOME);
    expect(await scene.wait('bob', HOME)).to.equal(1);
    expect(await scene.wait('alice', HOME)).to.equal(0);
  });

  it('delays failed attempts from a known source too, until a sign-in there succeeds', async () => {
    await scene.succeed('alice');
    await scene.fail('alice', HOME, 3);
    expect(await scene.wait('alice')).to.equal(1);
    scene.now += 1000;
    await scene.succeed('alice');
    await scene.fail('alice', HOME, 2);
    expect(await scene.wait('alice')).to.equal(0);
  });

  it('shares each failure that causes a delay, and new known sources of a delayed account', async () => {
    await scene.succeed('alice', HOME);
    await scene.fail('alice', OTHER_SOURCE, 2);
    expect(scene.records).to.have.length(0);
    await scene.fail('alice', OTHER_SOURCE);
    expect(scene.records.at(-1)).to.deep.equal({
      key: 'account.alice',
      failures: 3,
      lastAt: scene.now,
      knownSources: [`source.${HOME}`],
    });
    scene.now += 1000;
    await scene.succeed('alice', '192.0.2.7');
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

    it('merges records', async () => {
      await scene.succeed('alice', HOME);
      await scene.fail('alice', OTHER_SOURCE, 3);
      share();
      expect(await there.wait('alice', OTHER_SOURCE)).to.equal(1);
      expect(await there.wait('alice', HOME)).to.equal(0);
    });

    it('merges the end of a delay, but keeps later local failures', async () => {
      for (const replica of [scene, there]) await replica.succeed('alice');
      await scene.fail('alice', HOME, 3);
      share();
      expect(await there.wait('alice')).to.equal(1);
      for (const replica of [scene, there]) replica.now += 1000;
      await scene.succeed('alice');
      share();
      expect(await there.wait('alice')).to.equal(0);
      await there.fail('alice', HOME, 2);
      expect(await there.wait('alice')).to.equal(0);

      await scene.fail('alice', HOME, 3);
      share();
      there.now += 5000;
      scene.now += 1000;
      await there.fail('alice', HOME);
      await scene.succeed('alice');
      share();
      expect(await there.wait('alice')).to.equal(2);
    });

    it('does not extend delays when a clock is ahead or was set back', async () => {
      scene.now += 240_000;
      await scene.fail('alice', OTHER_SOURCE, 3);
      share();
      expect(await there.wait('alice', OTHER_SOURCE)).to.equal(1);
      scene.now -= 3_000_000;
      expect(await scene.wait('alice', OTHER_SOURCE)).to.equal(1);
    });
  });

  it('ends all delays on clear, including pending attempts', async () => {
    await scene.fail('alice', OTHER_SOURCE, 3);
    await scene.fail('bob', OTHER_SOURCE, 2);
    const underWay = await scene.reserve('bob', HOME);
    scene.throttle.clear();
    underWay.failed();
    expect(await scene.wait('alice', OTHER_SOURCE)).to.equal(0);
    await scene.fail('bob', HOME, 2);
    expect(await scene.wait('bob', HOME)).to.equal(0);
    expect(scene.records.filter(({ key }) => key === 'account.bob')).to.deep.equal([]);
  });

  describe('when it is full', () => {
    beforeEach(() => {
      scene = new Scene({ limits: { ...LIMITS, entries: 20, sourceFailures: 1_000_000 } });
    });

    it('keeps delaying buckets during a flood of new accounts', async () => {
      await scene.fail('alice', HOME, 3);
      for (let i = 0; i < 500; i++) await scene.fail(`invented${i}`, HOME);
      expect(await scene.wait('alice', OTHER_SOURCE)).to.equal(1);
      expect(scene.throttle.size).to.be.at.most(20);
    });

    it('still counts failures of new accounts', async () => {
      for (let i = 0; i < 20; i++) await scene.fail(`attacked${i}`, HOME, 3);
      expect(scene.throttle.size).to.be.at.most(20);
      await scene.fail('alice', HOME, 3);
      expect(await scene.wait('alice')).to.equal(1);
    });
  });
});
