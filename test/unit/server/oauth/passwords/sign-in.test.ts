import { hash as bcryptHash } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { pino } from 'pino';
import { newServiceUnavailable, newTooManyRequests } from '../../../../../apis/meta/v1/errors.ts';
import { OAuthError } from '../../../../../apis/oauth/errors.ts';
import { PasswordHasher } from '../../../../../server/oauth/passwords/hasher.ts';
import type { LoginRecord } from '../../../../../server/oauth/passwords/login-records.ts';
import { passwordFaults } from '../../../../../server/oauth/passwords/password-policy.ts';
import { PasswordSignIn, type PasswordSignInOptions } from '../../../../../server/oauth/passwords/sign-in.ts';
import { LoginThrottle } from '../../../../../server/oauth/throttle/login-throttle.ts';
import type { Account, Credential } from '../../../../../server/oauth/users/account.ts';
import { newAccount } from '../../../../support/oauth/new-account.ts';

const hasher = new PasswordHasher({
  memory: 1024 * 1024,
  iterations: 1,
  queue: { concurrency: 1, length: 8, timeoutMs: 30_000 },
});

const ATTEMPT = {
  method: 'password_grant',
  client: 'platform',
  source: '192.0.2.1',
  userAgent: 'curl/8',
  requestID: 'r-1',
} as const;

class Scene {
  readonly users = new Map<string, Account>();
  readonly credentials = new Map<string, Credential>();
  readonly records: LoginRecord[] = [];
  /** What became of reservations. */
  readonly ended: string[] = [];
  readonly verified: (string | undefined)[] = [];
  readonly firstVerified = Promise.withResolvers<void>();
  ready = true;
  throttled: Error | undefined;
  hashing: Error | undefined;
  setFails = false;
  readonly options: PasswordSignInOptions;
  readonly signIn: PasswordSignIn;

  constructor() {
    this.options = {
      ready: () => this.ready,
      users: this.users,
      credentials: {
        get: (name) => this.credentials.get(name),
        set: async (name, credential) => {
          if (this.setFails) throw newServiceUnavailable('the cluster is away');
          this.credentials.set(name, { ...credential, uid: 'p', resourceVersion: '2' });
        },
      },
      decoys: { of: (name) => `decoy of ${name}` },
      hasher: {
        hash: (password) => hasher.hash(password),
        needsRehash: (stored) => hasher.needsRehash(stored),
        verify: async (stored, password) => {
          if (this.hashing) throw this.hashing;
          const matches = await hasher.verify(stored, password);
          this.verified.push(stored);
          this.firstVerified.resolve();
          return matches;
        },
      },
      throttle: {
        reserve: async (name) => {
          if (this.throttled) throw this.throttled;
          return {
            isKnown: false,
            succeeded: () => this.ended.push(`${name} succeeded`),
            failed: () => this.ended.push(`${name} failed`),
            cancelled: () => this.ended.push(`${name} cancelled`),
          };
        },
      },
      records: { record: (login) => this.records.push(login) },
      log: pino({ level: 'silent' }),
      settleMs: 20,
    };
    this.signIn = new PasswordSignIn(this.options);
  }

  add(user: Account, passwordHash: string, overrides: Partial<Credential> = {}): void {
    this.users.set(user.name, user);
    this.credentials.set(user.name, {
      uid: 'p',
      passwordHash,
      userUID: user.uid,
      mustChange: false,
      changedAt: 1000,
      resourceVersion: '1',
      ...overrides,
    });
  }

  check(
    user: string,
    password = 'secret',
    options: { acceptMustChange?: boolean; signal?: AbortSignal } = {},
  ) {
    return this.signIn.check({
      ...ATTEMPT,
      user,
      password,
      signal: new AbortController().signal,
      ...options,
    });
  }

  /** [status, code, description] */
  async refusal(user: string, password = 'secret', signal = new AbortController().signal): Promise<unknown> {
    const error: unknown = await this.check(user, password, { signal }).catch((reason: unknown) => reason);
    return error instanceof OAuthError ? [error.status, error.code, error.message] : error;
  }
}

describe('signing in with a password', () => {
  let stored = '';
  let scene = new Scene();
  before(async () => {
    stored = await hasher.hash('secret');
  });
  beforeEach(() => {
    scene = new Scene();
    scene.add(newAccount('alice', { email: 'alice@example.com' }), stored);
  });

  it('tells who it is', async () => {
    const { account: found, credential } = await scene.check('alice');
    expect([found.name, credential.changedAt]).to.deep.equal(['alice', 1000]);
    expect(scene.ended).to.deep.equal(['alice succeeded']);
    expect(scene.records).to.deep.equal([
      {
        method: 'password_grant',
        outcome: 'success',
        user: 'alice',
        client: 'platform',
        source: '192.0.2.1',
        userAgent: 'curl/8',
        requestID: 'r-1',
      },
    ]);
  });

  it('takes every password that could be set, also one of a thousand characters beyond the usual ones', async () => {
    const longest = '🐎🔋📎🪙'.repeat(256);
    expect(passwordFaults(longest, 'alice')).to.deep.equal([]);
    scene.add(newAccount('alice'), await hasher.hash(longest));
    expect((await scene.check('alice', longest)).account.name).to.equal('alice');
  });

  it('takes the name as keyboards of phones write it: in any case, and with spaces around it', async () => {
    expect((await scene.check('Alice ')).account.name).to.equal('alice');
    expect(scene.ended).to.deep.equal(['alice succeeded']);
  });

  it('gives one answer for all that is wrong, hashes each time and counts each time', async () => {
    scene.add(newAccount('off', { disabled: true }), stored);
    scene.add(newAccount('anew'), stored, { userUID: 'another' });
    scene.users.set('bare', newAccount('bare'));
    const answers = [
      await scene.refusal('nobody'),
      await scene.refusal('alice', 'wrong'),
      await scene.refusal('off'),
      await scene.refusal('off', 'wrong'),
      await scene.refusal('anew'),
      await scene.refusal('bare'),
      await scene.refusal('alice@example.com'),
      await scene.refusal('__proto__'),
      await scene.refusal('x'.repeat(60_000)),
    ];
    for (const answer of answers) {
      expect(answer).to.deep.equal([400, 'invalid_grant', 'the user name or the password is wrong']);
    }
    expect(scene.verified).to.have.length(answers.length);
    expect(scene.verified[0]).to.equal('decoy of nobody');
    expect(scene.verified[1]).to.equal(stored);
    expect(scene.ended.map((end) => end.split(' ')[1])).to.deep.equal(answers.map(() => 'failed'));
    expect(scene.records.map(({ outcome }) => outcome).slice(0, 6)).to.deep.equal([
      'unknown_user',
      'wrong_password',
      'disabled',
      'wrong_password',
      'no_password',
      'no_password',
    ]);
  });

  describe('what is refused waits for word from the cluster', () => {
    it('and lets a user in who was made a moment ago', async () => {
      const signedIn = scene.check('carol');
      await scene.firstVerified.promise;
      scene.add(newAccount('carol'), stored);
      expect((await signedIn).account.name).to.equal('carol');
      expect(scene.verified).to.deep.equal(['decoy of carol', stored]);
      expect(scene.ended).to.deep.equal(['carol succeeded']);
      expect(scene.records.map(({ outcome }) => outcome)).to.deep.equal(['success']);
    });

    it('and takes a password that was set a moment ago', async () => {
      const changed = await hasher.hash('new secret');
      const signedIn = scene.check('alice', 'new secret');
      await scene.firstVerified.promise;
      scene.add(newAccount('alice'), changed);
      expect((await signedIn).account.name).to.equal('alice');
    });

    it('and hashes once where nothing came that counts', async () => {
      const refused = scene.refusal('alice', 'wrong');
      await scene.firstVerified.promise;
      scene.add(newAccount('alice', { email: 'other@example.com' }), stored);
      expect(await refused).to.include('invalid_grant');
      expect(scene.verified).to.have.length(1);
    });

    it('and counts as failed when the caller goes meanwhile, whom the silence has told so', async () => {
      const caller = new AbortController();
      const refused = scene.refusal('alice', 'wrong', caller.signal);
      await scene.firstVerified.promise;
      caller.abort(new Error('gone'));
      await refused;
      expect(scene.ended).to.deep.equal(['alice failed']);
      expect(scene.records.map(({ outcome }) => outcome)).to.deep.equal(['wrong_password']);
    });
  });

  it('records no name that no user has: it may be a password', async () => {
    await scene.refusal('my-secret-password');
    expect(scene.records[0]?.user).to.equal(undefined);
    expect(JSON.stringify(scene.records)).not.to.include('my-secret-password');
  });

  it('does not hash what the throttle refuses', async () => {
    scene.throttled = newTooManyRequests('slow down', 9);
    const error: unknown = await scene.check('alice').catch((reason: unknown) => reason);
    expect(error).to.include({ status: 429, code: 'invalid_grant', retryAfterSeconds: 9 });
    expect(scene.verified).to.deep.equal([]);
    expect(scene.records[0]?.outcome).to.equal('throttled');
  });

  it('gives the attempt back when it could not be checked', async () => {
    scene.hashing = newServiceUnavailable('too many', 2);
    const error: unknown = await scene.check('alice').catch((reason: unknown) => reason);
    expect(error).to.include({ status: 503, code: 'temporarily_unavailable', retryAfterSeconds: 2 });
    expect(scene.ended).to.deep.equal(['alice cancelled']);
  });

  it('refuses nobody while users are not known', async () => {
    scene.ready = false;
    expect(await scene.refusal('nobody')).to.have.members([
      503,
      'temporarily_unavailable',
      'sign-ins cannot be checked now, try again',
    ]);
    expect(scene.ended).to.deep.equal([]);
  });

  it('refuses a password beyond all measure, whoever sends it', async () => {
    expect(await scene.refusal('alice', 'x'.repeat(1025))).to.include('invalid_request');
    expect(await scene.refusal('alice', '🐎'.repeat(1025))).to.include('invalid_request');
    expect(await scene.refusal('nobody', 'x'.repeat(1025))).to.include('invalid_request');
  });

  it('refuses a password that has to be changed, unless the caller sees to that', async () => {
    scene.add(newAccount('new'), stored, { mustChange: true });
    expect(await scene.refusal('new')).to.deep.equal([
      400,
      'invalid_grant',
      'the password has to be changed first, on the sign-in page',
    ]);
    expect(scene.records.at(-1)?.outcome).to.equal('must_change');
    expect((await scene.check('new', 'secret', { acceptMustChange: true })).credential.mustChange).to.equal(
      true,
    );
  });

  it('replaces the bcrypt hash of an imported user, and leaves the password as old as it is', async () => {
    scene.add(newAccount('imported'), await bcryptHash('secret', { cost: 4 }));
    await scene.check('imported');
    const renewed = scene.credentials.get('imported');
    expect(renewed?.passwordHash).to.match(/^\$argon2id\$/);
    expect(renewed?.changedAt).to.equal(1000);
    await scene.check('imported');
  });

  it('replaces no hash for a wrong password', async () => {
    const imported = await bcryptHash('secret', { cost: 4 });
    scene.add(newAccount('imported'), imported);
    await scene.refusal('imported', 'wrong');
    expect(scene.credentials.get('imported')?.passwordHash).to.equal(imported);
  });

  it('lets a user in whose hash cannot be replaced', async () => {
    scene.add(newAccount('imported'), await bcryptHash('secret', { cost: 4 }));
    scene.setFails = true;
    expect((await scene.check('imported')).account.name).to.equal('imported');
  });
});

describe('a flood of sign-ins from many addresses', () => {
  const settings = {
    memory: 8 * 1024 * 1024,
    iterations: 1,
    queue: { concurrency: 2, length: 64, timeoutMs: 30_000 },
  };
  const limits = {
    failures: 5,
    sourceFailures: 50,
    delay: 1000,
    maxDelay: 900_000,
    reset: 3_600_000,
    entries: 100_000,
  };

  for (const [target, userOf] of [
    ['one user', () => 'alice'],
    ['many users', (index: number) => `user-${index}`],
  ] as const) {
    it(`does not reject a known pair of user and address when it targets ${target}`, async () => {
      const scene = new Scene();
      const { queue } = settings;
      const slow = new PasswordHasher(settings);
      const throttle = new LoginThrottle({
        limits,
        patience: queue,
        digest: (kind, value) => `${kind}.${value}`,
      });
      const signIn = new PasswordSignIn({ ...scene.options, hasher: slow, throttle });
      const attempt = (user: string, password: string, source: string): Promise<unknown> =>
        signIn
          .check({ ...ATTEMPT, user, password, source, signal: new AbortController().signal })
          .then(() => 200)
          .catch((error: unknown) => (error instanceof OAuthError ? error.status : error));
      scene.add(newAccount('alice'), await slow.hash('secret'));
      expect(await attempt('alice', 'secret', '192.0.2.1')).to.equal(200);
      const flood = Array.from({ length: 300 }, (_, index) =>
        attempt(userOf(index), 'wrong', `198.51.${index >> 8}.${index & 255}`),
      );
      const known = Array.from({ length: 20 }, () => attempt('alice', 'secret', '192.0.2.1'));
      expect(await Promise.all(known)).to.deep.equal(known.map(() => 200));
      expect(await Promise.all(flood)).to.include(503);
    });
  }
});
