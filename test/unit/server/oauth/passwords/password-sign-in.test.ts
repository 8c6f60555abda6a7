// Tests of the verification of user names and passwords.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { hash as bcryptHash } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { pino } from 'pino';
import { newServiceUnavailable, newTooManyRequests } from '../../../../../apis/meta/v1/errors.ts';
import { OAuthError } from '../../../../../apis/oauth/errors.ts';
import { PasswordHasher } from '../../../../../server/oauth/passwords/password-hasher.ts';
import {
  type LoginRecord,
  newLoginRecords,
  PasswordSignIn,
  type PasswordSignInOptions,
} from '../../../../../server/oauth/passwords/password-sign-in.ts';
import { LoginThrottle } from '../../../../../server/oauth/throttle/login-throttle.ts';
import type { Account, Credential } from '../../../../../server/oauth/users/account.ts';
import { newAccount } from '../../../../support/oauth/new-account.ts';
import { rejection } from '../../../../support/rejection.ts';

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
  /** Outcomes of reservations. */
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
          if (this.setFails) throw newServiceUnavailable('the cluster is unavailable');
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

describe('password sign-in', () => {
  let stored = '';
  let scene = new Scene();
  before(async () => {
    stored = await hasher.hash('secret');
  });
  beforeEach(() => {
    scene = new Scene();
    scene.add(newAccount('alice', { email: 'alice@example.com' }), stored);
  });

  it('returns the user and the verified credential, regardless of case and spaces of the name', async () => {
    const { account: found, credential } = await scene.check('Alice ');
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

  it('has one response for all failures, with one hash and one counted failure each', async () => {
    scene.add(newAccount('off', { disabled: true }), stored);
    scene.add(newAccount('recreated'), stored, { userUID: 'another' });
    scene.users.set('bare', newAccount('bare'));
    const answers = [
      await scene.refusal('nobody'),
      await scene.refusal('alice', 'wrong'),
      await scene.refusal('off'),
      await scene.refusal('off', 'wrong'),
      await scene.refusal('recreated'),
      await scene.refusal('bare'),
      await scene.refusal('alice@example.com'),
      await scene.refusal('__proto__'),
      await scene.refusal('x'.repeat(60_000)),
    ];
    for (const answer of answers) {
      expect(answer).to.deep.equal([400, 'invalid_grant', 'the user name or the password is wrong']);
    }
    expect(scene.verified).to.have.length(answers.length);
    expect(JSON.stringify(scene.records), 'unknown names may be passwords').not.to.match(/nobody|proto|@/);
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

  describe('a failure waits for watch events', () => {
    it('and accepts a user or a password that was just set', async () => {
      const changed = await hasher.hash('new secret');
      const signedIn = scene.check('alice', 'new secret');
      await scene.firstVerified.promise;
      scene.add(newAccount('alice'), changed);
      expect((await signedIn).account.name).to.equal('alice');
      const first = scene.check('carol');
      while (scene.verified.length < 3) await nextTurn();
      scene.add(newAccount('carol'), stored);
      expect((await first).account.name).to.equal('carol');
      expect(scene.verified.slice(2)).to.deep.equal(['decoy of carol', stored]);
      expect(scene.ended).to.deep.equal(['alice succeeded', 'carol succeeded']);
      expect(scene.records.map(({ outcome }) => outcome)).to.deep.equal(['success', 'success']);
    });

    it('and counts as failed when the client disconnects during the wait', async () => {
      const caller = new AbortController();
      const refused = scene.refusal('alice', 'wrong', caller.signal);
      await scene.firstVerified.promise;
      caller.abort(new Error('gone'));
      await refused;
      expect(scene.ended).to.deep.equal(['alice failed']);
      expect(scene.records.map(({ outcome }) => outcome)).to.deep.equal(['wrong_password']);
    });
  });

  it('does not hash throttled attempts', async () => {
    scene.throttled = newTooManyRequests('slow down', 9);
    expect(await rejection(scene.check('alice'))).to.include({
      status: 429,
      code: 'invalid_grant',
      retryAfterSeconds: 9,
    });
    expect(scene.verified).to.deep.equal([]);
    expect(scene.records[0]?.outcome).to.equal('throttled');
  });

  it('cancels the reservation when the password cannot be verified', async () => {
    scene.hashing = newServiceUnavailable('too many', 2);
    expect(await rejection(scene.check('alice'))).to.include({
      status: 503,
      code: 'temporarily_unavailable',
      retryAfterSeconds: 2,
    });
    expect(scene.ended).to.deep.equal(['alice cancelled']);
  });

  it('responds with 503 until the caches are synced', async () => {
    scene.ready = false;
    expect(await scene.refusal('nobody')).to.have.members([
      503,
      'temporarily_unavailable',
      'sign-in is temporarily unavailable, try again later',
    ]);
    expect(scene.ended).to.deep.equal([]);
  });

  it('rejects a password above the maximum length', async () => {
    for (const [user, character] of [
      ['alice', 'x'],
      ['alice', '🐎'],
      ['nobody', 'x'],
    ] as const) {
      expect(await scene.refusal(user, character.repeat(1025))).to.include('invalid_request');
    }
  });

  it('rejects a password that must be changed, unless the caller makes the user change it', async () => {
    scene.add(newAccount('new'), stored, { mustChange: true });
    expect(await scene.refusal('new')).to.deep.equal([
      400,
      'invalid_grant',
      'the password must be changed first, on the sign-in page',
    ]);
    expect(scene.records.at(-1)?.outcome).to.equal('must_change');
    expect((await scene.check('new', 'secret', { acceptMustChange: true })).credential.mustChange).to.equal(
      true,
    );
  });

  it('replaces the bcrypt hash of an imported user after a success only, and keeps the change time', async () => {
    const imported = await bcryptHash('secret', { cost: 4 });
    const current = () => scene.credentials.get('imported');
    scene.add(newAccount('imported'), imported);
    await scene.refusal('imported', 'wrong');
    scene.setFails = true;
    expect((await scene.check('imported')).account.name).to.equal('imported');
    expect(current()?.passwordHash).to.equal(imported);
    scene.setFails = false;
    await scene.check('imported');
    expect(current()?.passwordHash).to.match(/^\$argon2id\$/);
    expect(current()?.changedAt).to.equal(1000);
    await scene.check('imported');
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
    it(`does not reject a user at a known address when a flood targets ${target}`, async () => {
      const scene = new Scene();
      const { queue } = settings;
      const slow = new PasswordHasher(settings);
      const throttle = new LoginThrottle({
        limits,
        waitLimits: queue,
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

const LOGIN: LoginRecord = {
  method: 'page',
  outcome: 'wrong_password',
  user: 'alice',
  client: 'console',
  source: '192.0.2.1',
  userAgent: 'curl/8',
  requestID: 'r-1',
};

describe('login records', () => {
  const written: unknown[] = [];
  const counted: unknown[] = [];
  const records = newLoginRecords(
    { info: (line, message) => written.push({ ...line, message }) },
    { login: (labels) => counted.push(labels) },
  );

  it('contain user, client, source, outcome, and a printable and bounded user agent, and are counted without the user', () => {
    records.record({ ...LOGIN, userAgent: `\u001b[2J${'x'.repeat(10_000)}` });
    records.record({ ...LOGIN, outcome: 'unknown_user', user: undefined, client: '' });
    const { user: _user, client: _client, ...anonymous } = LOGIN;
    expect(written).to.deep.equal([
      { stage: 'Login', message: 'login', ...LOGIN, userAgent: `?[2J${'x'.repeat(252)}` },
      { stage: 'Login', message: 'login', ...anonymous, outcome: 'unknown_user' },
    ]);
    expect(counted[0]).to.deep.equal({ method: 'page', outcome: 'wrong_password', client: 'console' });
  });
});
