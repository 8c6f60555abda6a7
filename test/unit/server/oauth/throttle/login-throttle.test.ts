// Tests of the throttle of sign-ins.
import { expect } from 'chai';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import {
  type Attempted,
  beginAttempt,
  type CountedAttempt,
  LoginThrottle,
} from '../../../../../server/oauth/throttle/login-throttle.ts';
import { MemoryFailures } from '../../../../support/oauth/memory-failures.ts';
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
const DAY_MS = 86_400_000;

/** A replica; all replicas share the failures. */
class Scene {
  static now = 1_000_000;
  readonly throttle: LoginThrottle;
  readonly failures: MemoryFailures;

  constructor(
    failures = new MemoryFailures(LIMITS, () => Scene.now),
    sessions: readonly { readonly source: string }[] = [],
  ) {
    this.failures = failures;
    this.throttle = new LoginThrottle({
      failures,
      keys: { mac: (purpose, value) => `${purpose} ${value}` },
      sessions: { ofUser: (account) => (account === 'alice' ? sessions : []) },
      now: () => Scene.now,
    });
  }

  begin(account: string, source = HOME, kind: Attempted = 'account'): Promise<CountedAttempt> {
    return beginAttempt(this.throttle, { account, source, kind });
  }

  async fail(account: string, source = HOME, times = 1): Promise<void> {
    for (let i = 0; i < times; i++) await (await this.begin(account, source)).failed();
  }

  async succeed(account: string, source = HOME): Promise<void> {
    (await this.begin(account, source)).succeeded();
  }

  /** Seconds to wait; 0 when an attempt may begin. */
  async wait(account: string, source = HOME, kind: Attempted = 'account'): Promise<number> {
    try {
      (await this.begin(account, source, kind))[Symbol.dispose]();
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

  it('allows fewer guesses for a person of a directory than Windows does before it locks the account', async () => {
    const limits = { ...LIMITS, failures: 5, reset: 12 * 3_600_000 };
    const failures = new MemoryFailures(limits, () => Scene.now);
    const replicas = [new Scene(failures), new Scene(failures), new Scene(failures)];
    const attempts: number[] = [];
    const begin = Scene.now;
    while (Scene.now < begin + 2 * 3_600_000) {
      for (const replica of replicas) {
        await replica.begin('ann', `203.0.113.${attempts.length % 250}`, 'person').then(
          (attempt) => {
            attempts.push(Scene.now);
            return attempt.failed();
          },
          () => undefined,
        );
      }
      Scene.now += 5000;
    }
    for (const [minutes, most] of [
      [10, 7],
      [30, 9],
    ] as const) {
      const inWindow = (end: number) => attempts.filter((at) => at <= end && at > end - minutes * 60_000);
      expect(Math.max(...attempts.map((at) => inWindow(at).length)), `${minutes}`).to.equal(most);
    }
  });

  it('does not delay a person of a directory at an address where its user has a session', async () => {
    const at = new Scene(undefined, [{ source: HOME }]);
    const begin = (source: string) =>
      beginAttempt(at.throttle, { account: 'company s-1', source, kind: 'person', user: 'alice' });
    for (let index = 0; index < LIMITS.failures; index++) await (await begin(OTHER_SOURCE)).failed();
    expect(await rejection(begin(OTHER_SOURCE))).to.be.instanceOf(StatusError);
    (await begin(HOME)).succeeded();
  });

  it('delays an account after failures, and doubles the delay after each further one, up to the maximum', async () => {
    const waits: number[] = [];
    for (let i = 0; i < 15; i++) {
      // A new source each time, so that only the account is throttled.
      await scene.fail('alice', `203.0.113.${i}`);
      const seconds = await scene.wait('alice', '203.0.113.99');
      waits.push(seconds);
      Scene.now += seconds * 1000;
    }
    expect(waits.slice(0, 5)).to.deep.equal([0, 0, 1, 2, 4]);
    expect(waits.slice(11)).to.deep.equal([512, 900, 900, 900]);
  });

  it('delays a source that fails with many accounts, for at most a minute', async () => {
    for (let i = 0; i < LIMITS.sourceFailures; i++) await scene.fail(`user${i}`);
    expect(await scene.wait('another')).to.equal(1);
    expect(await scene.wait('another', OTHER_SOURCE)).to.equal(0);
    for (let i = 0; i < 20; i++) {
      Scene.now += (await scene.wait(`later${i}`)) * 1000;
      await scene.fail(`later${i}`);
    }
    expect(await scene.wait('another')).to.equal(60);
  });

  it('delays a source also if each of its parallel attempts is for an account that was delayed', async () => {
    const accounts = Array.from({ length: 2 * LIMITS.sourceFailures }, (_, index) => `user${index}`);
    for (const [index, account] of accounts.entries()) {
      await scene.fail(account, `203.0.113.${index}`, LIMITS.failures);
    }
    Scene.now += 1000;
    const results = await Promise.allSettled(
      accounts.map(async (account) => (await scene.begin(account)).failed()),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(LIMITS.sourceFailures);
    // Those that were not verified are no failures.
    expect(await scene.wait(accounts.at(-1) ?? '', OTHER_SOURCE)).to.equal(0);
  });

  it('treats the /64 network of an IPv6 address as one source', async () => {
    for (let i = 0; i < LIMITS.sourceFailures; i++) await scene.fail(`user${i}`, `2001:db8::${i}`);
    expect(await scene.wait('another', '2001:db8:0:0:ffff::1')).to.equal(1);
    expect(await scene.wait('another', '2001:db8:0:1::1')).to.equal(0);
  });

  it('counts pending attempts as failures, and gives those that were cancelled back', async () => {
    const waiting = await scene.throttle.attempt('alice', HOME);
    const running = await Promise.all([1, 2, 3].map(() => scene.begin('alice')));
    expect(() => waiting.begin())
      .to.throw(StatusError)
      .with.property('code', 429);
    expect(await scene.wait('alice', OTHER_SOURCE)).to.equal(1);
    for (const attempt of running) attempt[Symbol.dispose]();
    waiting.begin();
    await waiting.failed();
    expect(await scene.wait('alice')).to.equal(0);
    await scene.fail('alice', HOME, 2);
    expect(await scene.wait('alice')).to.equal(1);
  });

  it('treats a source as known for thirty days', async () => {
    for (const [later, wait] of [
      [0, 0],
      [1, 1],
    ] as const) {
      scene = new Scene();
      await scene.succeed('alice', HOME);
      Scene.now += 30 * DAY_MS + later;
      await scene.fail('alice', OTHER_SOURCE, 3);
      expect(await scene.wait('alice', HOME), `${later} ms later`).to.equal(wait);
    }
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
    scene = new Scene(scene.failures, [{ source: HOME }]);
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
    Scene.now += 1000;
    await scene.succeed('alice');
    await scene.fail('alice', HOME, 2);
    expect(await scene.wait('alice')).to.equal(0);
  });

  it('resets the failures of an account after a time without failures', async () => {
    await scene.fail('alice', OTHER_SOURCE, 3);
    Scene.now += LIMITS.reset + 1;
    await scene.fail('alice', OTHER_SOURCE, 2);
    expect(await scene.wait('alice', OTHER_SOURCE)).to.equal(0);
  });

  it('extends no delay after the clock was set back', async () => {
    await scene.fail('alice', OTHER_SOURCE, 3);
    Scene.now -= 3_000_000;
    expect(await scene.wait('alice', OTHER_SOURCE)).to.be.at.most(1);
  });

  describe('of several replicas', () => {
    let replicas: readonly Scene[];
    beforeEach(() => {
      replicas = [scene, new Scene(scene.failures), new Scene(scene.failures)];
    });

    /** Attempts that were verified, of as many parallel ones at each replica. */
    const verified = async (attempts: number, kind: Attempted): Promise<number> => {
      const all = replicas.flatMap((replica) =>
        Array.from({ length: attempts }, async () => {
          const attempt = await replica.begin('alice', OTHER_SOURCE, kind);
          await attempt.failed();
        }),
      );
      return (await Promise.allSettled(all)).filter(({ status }) => status === 'fulfilled').length;
    };

    it('verifies one attempt after each delay, and counts it', async () => {
      await scene.fail('alice', OTHER_SOURCE, 3);
      for (const delay of [1, 2, 4, 8]) {
        expect(await replicas[2]?.wait('alice', OTHER_SOURCE)).to.equal(delay);
        Scene.now += delay * 1000;
        expect(await verified(5, 'account')).to.equal(1);
      }
    });

    it('verifies no more parallel codes than one replica, and counts all of them', async () => {
      expect(await verified(10, 'factor')).to.equal(LIMITS.failures);
      expect(await verified(10, 'factor')).to.equal(0);
    });

    it('withdraws an attempt after a delay that succeeds, or is not verified', async () => {
      await scene.fail('alice', OTHER_SOURCE, 3);
      for (const source of ['203.0.113.1', '203.0.113.2']) {
        Scene.now += 1000;
        await replicas[1]?.succeed('alice', source);
        Scene.now += 1000;
        expect(await replicas[2]?.wait('alice', OTHER_SOURCE)).to.equal(0);
      }
      Scene.now += 1000;
      await scene.fail('alice', OTHER_SOURCE);
      expect(await scene.wait('alice', OTHER_SOURCE)).to.equal(2);
    });

    it('keeps no wrong code for longer because of a right one', async () => {
      const wrong = async (times: number): Promise<void> => {
        for (let i = 0; i < times; i++) await (await scene.begin('alice', HOME, 'factor')).failed();
      };
      await wrong(LIMITS.failures - 1);
      Scene.now += 20 * DAY_MS;
      (await replicas[1]?.begin('alice', OTHER_SOURCE, 'factor'))?.succeeded();
      Scene.now += 11 * DAY_MS;
      await wrong(1);
      expect(await replicas[2]?.wait('alice', HOME, 'factor')).to.equal(0);
    });

    it('forgives the wrong codes of a user, also at a known source', async () => {
      (await scene.begin('alice', HOME, 'factor')).succeeded();
      for (const source of [HOME, OTHER_SOURCE]) {
        for (let i = 0; i < 3; i++) await (await scene.begin('alice', source, 'factor')).failed();
        expect(await replicas[1]?.wait('alice', source, 'factor')).to.equal(1);
      }
      await replicas[2]?.throttle.forgive('alice');
      for (const source of [HOME, OTHER_SOURCE]) {
        expect(await replicas[1]?.wait('alice', source, 'factor')).to.equal(0);
      }
    });
  });
});
