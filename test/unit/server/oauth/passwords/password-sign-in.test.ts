// Tests of the verification of user names and passwords.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { hash as bcryptHash } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { newServiceUnavailable, newTooManyRequests } from '../../../../../apis/meta/v1/errors.ts';
import { OAuthError } from '../../../../../apis/oauth/oauth-error.ts';
import {
  type LoginOrigin,
  type LoginRecord,
  newLoginRecords,
} from '../../../../../server/oauth/passwords/login-records.ts';
import { PasswordHasher } from '../../../../../server/oauth/passwords/password-hasher.ts';
import {
  PasswordSignIn,
  type SignInAttempt,
} from '../../../../../server/oauth/passwords/password-sign-in.ts';
import type { Account, NewCredential } from '../../../../../server/oauth/users/account.ts';
import { MemoryCredentials } from '../../../../support/oauth/memory-users.ts';
import { newAccount } from '../../../../support/oauth/new-account.ts';
import { NO_FACTORS_NEEDED } from '../../../../support/oauth/second-factors.ts';
import { log } from '../../../../support/oauth/signed-in.ts';
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
const WRONG = [400, 'invalid_grant', 'the user name or the password is wrong'];

class Scene {
  readonly users = new Map<string, Account>();
  readonly credentials = new MemoryCredentials();
  readonly records: (LoginOrigin & LoginRecord)[] = [];
  /** Users whose attempts were counted before the password was verified. */
  readonly begun: string[] = [];
  /** Outcomes of attempts. */
  readonly ended: string[] = [];
  readonly verified: (string | undefined)[] = [];
  readonly flows: unknown[] = [];
  isKnown = false;
  readonly firstVerified = Promise.withResolvers<void>();
  ready = true;
  throttled: Error | undefined;
  hashing: Error | undefined;
  readonly signIn: PasswordSignIn;

  constructor() {
    this.signIn = new PasswordSignIn({
      factorPolicy: NO_FACTORS_NEEDED,
      ready: () => this.ready,
      users: this.users,
      credentials: this.credentials,
      decoys: { of: (name) => `decoy of ${name}` },
      hasher: {
        hash: (password, options) => hasher.hash(password, options),
        needsRehash: (stored) => hasher.needsRehash(stored),
        verify: async (stored, password, options) => {
          if (this.hashing) throw this.hashing;
          this.flows.push(options?.flow);
          const { begin = () => undefined } = options ?? {};
          const matches = await hasher.verify(stored, password, { begin });
          this.verified.push(stored);
          this.firstVerified.resolve();
          return matches;
        },
      },
      throttle: {
        attempt: async (name) => {
          if (this.throttled) throw this.throttled;
          let outcome = 'cancelled';
          return {
            isKnown: this.isKnown,
            begin: () => this.begun.push(name),
            succeeded: () => {
              outcome = 'succeeded';
            },
            failed: async () => {
              outcome = 'failed';
            },
            [Symbol.dispose]: () => this.ended.push(`${name} ${outcome}`),
          };
        },
      },
      providers: undefined,
      records: { record: (origin, login) => this.records.push({ ...origin, ...login }) },
      now: () => 5_000,
      log,
      settleMs: 20,
    });
  }

  add(user: Account, passwordHash: string, overrides: Partial<NewCredential> = {}): void {
    this.users.set(user.name, user);
    const credential = { passwordHash, userUID: user.uid, mustChange: false, changedAt: 1000 };
    void this.credentials.set(user.name, { ...credential, ...overrides });
  }

  check(user: string, password = 'secret', options: Partial<SignInAttempt> = {}) {
    const { signal } = new AbortController();
    return this.signIn.check({ ...ATTEMPT, user, password, signal, ...options });
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
    stored = await hasher.hash('secret', { caller: 'user test' });
  });
  beforeEach(() => {
    scene = new Scene();
    scene.add(newAccount('alice', { email: 'alice@example.com' }), stored);
  });

  it('returns the user and the verified credential, regardless of case and spaces of the name', async () => {
    const { account: found, credential } = await scene.check('Alice ');
    expect([found.name, credential?.changedAt]).to.deep.equal(['alice', 1000]);
    expect(scene.ended).to.deep.equal(['alice succeeded']);
    expect(scene.records).to.have.length(1);
    expect(scene.records[0]).to.include({ ...ATTEMPT, outcome: 'success', user: 'alice' });
  });

  it('has one response for all failures, with one hash and one counted failure each', async () => {
    scene.add(newAccount('off', { disabled: true }), stored);
    scene.add(newAccount('recreated'), stored, { userUID: 'another' });
    scene.users.set('bare', newAccount('bare'));
    const attempts = [
      ['nobody', 'secret', 'unknown_user'],
      ['alice', 'wrong', 'wrong_password'],
      ['off', 'secret', 'disabled'],
      ['off', 'wrong', 'wrong_password'],
      ['recreated', 'secret', 'no_password'],
      ['bare', 'secret', 'no_password'],
      ['alice@example.com', 'secret', 'unknown_user'],
      ['__proto__', 'secret', 'unknown_user'],
      ['x'.repeat(60_000), 'secret', 'unknown_user'],
    ] as const;
    for (const [user, password, outcome] of attempts) {
      expect(await scene.refusal(user, password), user).to.deep.equal(WRONG);
      expect(scene.records.at(-1)?.outcome, user).to.equal(outcome);
      expect([scene.begun.at(-1), scene.ended.at(-1)], user).to.deep.equal([user, `${user} failed`]);
    }
    expect([scene.verified.length, scene.ended.length]).to.deep.equal([attempts.length, attempts.length]);
    expect(JSON.stringify(scene.records), 'unknown names may be passwords').not.to.match(/nobody|proto|@/);
    expect(scene.verified.slice(0, 2)).to.deep.equal(['decoy of nobody', stored]);
  });

  describe('a failure waits for watch events', () => {
    it('and accepts a user or a password that was just set', async () => {
      const changed = await hasher.hash('new secret', { caller: 'user test' });
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
    const expected = { status: 429, code: 'invalid_grant', retryAfterSeconds: 9 };
    expect(await rejection(scene.check('alice'))).to.include(expected);
    expect(scene.verified).to.deep.equal([]);
    expect(scene.records[0]?.outcome).to.equal('throttled');
  });

  it('cancels the counted attempt when the password cannot be verified', async () => {
    scene.hashing = newServiceUnavailable('too many', 2);
    const expected = { status: 503, code: 'temporarily_unavailable', retryAfterSeconds: 2 };
    expect(await rejection(scene.check('alice'))).to.include(expected);
    expect(scene.ended).to.deep.equal(['alice cancelled']);
  });

  it('hashes with the priority of known users at a known address', async () => {
    for (const isKnown of [true, false]) {
      scene.isKnown = isKnown;
      await scene.check('alice');
    }
    expect(scene.flows).to.deep.equal(['known', 'unknown']);
  });

  it('responds with 503 until the caches are synced', async () => {
    scene.ready = false;
    const message = 'sign-in is temporarily unavailable, try again later';
    expect(await scene.refusal('nobody')).to.deep.equal([503, 'temporarily_unavailable', message]);
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
    const message = 'the password must be changed first, on the sign-in page';
    expect(await scene.refusal('new')).to.deep.equal([400, 'invalid_grant', message]);
    expect(scene.records.at(-1)?.outcome).to.equal('must_change');
    const { credential } = await scene.check('new', 'secret', { acceptMustChange: true });
    expect(credential?.mustChange).to.equal(true);
  });

  it('replaces the bcrypt hash of an imported user after a success only, and keeps the change time', async () => {
    const imported = await bcryptHash('secret', { cost: 4 });
    const current = () => scene.credentials.get('imported');
    scene.add(newAccount('imported'), imported);
    await scene.refusal('imported', 'wrong');
    const set = scene.credentials.set.bind(scene.credentials);
    scene.credentials.set = () => Promise.reject(newServiceUnavailable('the cluster is unavailable'));
    expect((await scene.check('imported')).account.name).to.equal('imported');
    expect(current()?.passwordHash).to.equal(imported);
    scene.credentials.set = set;
    await scene.check('imported');
    expect(current()?.passwordHash).to.match(/^\$argon2id\$/);
    expect(current()?.changedAt).to.equal(1000);
    await scene.check('imported');
  });
});

describe('login records', () => {
  it('contain user, client, source, outcome, and a printable and bounded user agent, and are counted without the user', () => {
    const written: unknown[] = [];
    const counted: unknown[] = [];
    const lastLogins: string[] = [];
    const records = newLoginRecords(
      { info: (line, message) => written.push({ ...line, message }) },
      { login: (labels) => counted.push(labels) },
      { record: (user) => lastLogins.push(user) },
    );
    const login = { ...ATTEMPT, outcome: 'wrong_password', user: 'alice' } as const;
    records.record({ ...ATTEMPT, userAgent: `\u001b[2J${'x'.repeat(10_000)}` }, login);
    records.record({ ...ATTEMPT, client: '' }, { ...login, outcome: 'unknown_user', user: undefined });
    const { client, ...anonymous } = ATTEMPT;
    expect(written).to.deep.equal([
      { stage: 'Login', message: 'login', ...login, userAgent: `?[2J${'x'.repeat(252)}` },
      { stage: 'Login', message: 'login', ...anonymous, outcome: 'unknown_user' },
    ]);
    expect(counted[0]).to.deep.equal({ method: 'password_grant', outcome: 'wrong_password', client });
    expect(lastLogins).to.deep.equal([]);
    records.record(ATTEMPT, { ...login, outcome: 'success' });
    expect(lastLogins).to.deep.equal(['alice']);
  });
});
