import { expect } from 'chai';
import { OAuthError } from '../../../../../apis/oauth/oauth-error.ts';
import { Seal } from '../../../../../server/oauth/keys/seal.ts';
import {
  type AuthenticatedPerson,
  type PasswordProvider,
  type PersonEnd,
  ProviderUnavailable,
  type StoredProof,
} from '../../../../../server/oauth/providers/provider.ts';
import { SessionFreshness } from '../../../../../server/oauth/providers/session-freshness.ts';
import { byIdentity, type IdentityProof } from '../../../../../server/oauth/sessions/proof.ts';
import type { StoredSession } from '../../../../../server/oauth/sessions/session.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';
import { MemorySessionStore, MemorySessions } from '../../../../support/oauth/memory-session-store.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';
import { log } from '../../../../support/oauth/signed-in.ts';
import { rejection } from '../../../../support/rejection.ts';
import { until } from '../../../../support/until.ts';

const CALL = { signal: new AbortController().signal };
const HOUR = 3_600_000;
const IDENTITY = {
  name: 'i-1',
  uid: 'uid-of-i-1',
  provider: 'company',
  issuer: 'ldap:///dc=example,dc=com',
  subject: 's-1',
  user: 'alice',
  userUID: 'uid-of-alice',
  displayName: '',
};

class Scene {
  now = Date.now();
  answer: AuthenticatedPerson | PersonEnd | Error = 'gone';
  identity: typeof IDENTITY | undefined = IDENTITY;
  readonly asked: StoredProof[] = [];
  /** Of the last confirmation. */
  signal: AbortSignal | undefined;
  /** The provider responds after it. */
  responds: Promise<void> = Promise.resolve();
  readonly sessions = new MemorySessionStore(new MemorySessions());
  readonly freshness: SessionFreshness;
  readonly seal: Seal;

  private constructor(seal: Seal) {
    this.seal = seal;
    const provider: PasswordProvider = {
      name: 'company',
      displayName: 'Company "ü"',
      problem: undefined,
      usesRefreshTokens: false,
      run: async () => undefined,
      signIn: async () => 'unknown_user',
      revalidate: async (proof, { signal }) => {
        this.asked.push(proof);
        this.signal = signal;
        await this.responds;
        if (this.answer instanceof Error) throw this.answer;
        return this.answer;
      },
    };
    const rules = { name: 'company', accounts: 'create', groups: { allow: ['*'], prefix: '' } } as const;
    this.freshness = new SessionFreshness({
      providers: [{ provider, rules, outageToleranceMs: HOUR }],
      directory: { get: () => this.identity },
      identities: { confirmed: ({ groups }) => (groups.length > 2 ? undefined : { groups }) },
      seal,
      refreshTokens: { use: () => Promise.reject(new Error('unexpected')) },
      sessions: this.sessions,
      now: () => this.now,
      log,
    });
  }

  static async create(): Promise<Scene> {
    return new Scene(new Seal(await memoryKeyRing(), 'upstream state of a session'));
  }

  async session(changes: Partial<IdentityProof> = {}): Promise<StoredSession> {
    const proof = {
      kind: 'identity',
      name: 'i-1',
      uid: 'uid-of-i-1',
      groups: ['old'],
      checkedAt: this.now,
      ...changes,
    } as const;
    return this.sessions.create(newSession({ authentication: byIdentity(proof, undefined, this.now) }));
  }

  person(...groups: string[]): AuthenticatedPerson {
    const { issuer, subject } = IDENTITY;
    return { person: { issuer, subject, groups }, upstream: 'new state' };
  }
}

describe('SessionFreshness', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.create();
  });

  it('returns the session of a local password as it is', async () => {
    const local = await scene.sessions.create(newSession());
    expect(await scene.freshness.renewed(local, CALL)).to.equal(local);
    expect(scene.asked).to.deep.equal([]);
  });

  it('passes the state of the provider, and stores the new groups and the new state, encrypted', async () => {
    const session = await scene.session({ upstream: await scene.seal.seal('old state') });
    scene.answer = scene.person('new');
    scene.now += 1000;
    const renewed = await scene.freshness.renewed(session, CALL);
    const { subject, issuer, upstream } = scene.asked[0] ?? {};
    expect({ subject, issuer, upstream }).to.deep.equal({
      subject: 's-1',
      issuer: IDENTITY.issuer,
      upstream: 'old state',
    });
    const proof = typeof renewed === 'string' ? undefined : renewed.authentication?.proof;
    if (proof?.kind !== 'identity') throw new Error('no identity');
    expect(proof).to.include({ checkedAt: scene.now, name: 'i-1' });
    expect(proof.groups).to.deep.equal(['new']);
    expect(proof.upstream).to.match(/^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(await scene.seal.open(proof.upstream)).to.equal('new state');
  });

  it('passes the state of the session itself: a person who knows a new password has another session', async () => {
    const earlier = await scene.session({ upstream: await scene.seal.seal('old password') });
    scene.now += 1000;
    await scene.session({ upstream: await scene.seal.seal('new password') });
    scene.answer = scene.person();
    await scene.freshness.renewed(earlier, CALL);
    expect(scene.asked.map(({ upstream }) => upstream)).to.deep.equal(['old password']);
  });

  it('completes a confirmation without the client that began it, because other clients wait for the response', async () => {
    const [session, other] = [await scene.session(), await scene.session()];
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.responds = promise;
    scene.answer = scene.person('new');
    const client = new AbortController();
    const first = scene.freshness.renewed(session, { signal: client.signal });
    const second = scene.freshness.renewed(other, CALL);
    await until(() => scene.signal !== undefined);
    client.abort();
    expect(scene.signal?.aborted).to.equal(false);
    resolve();
    for (const renewed of await Promise.all([first, second])) expect(renewed).to.be.an('object');
    expect(scene.asked).to.have.length(1);
  });

  for (const end of ['gone', 'disabled', 'password changed'] as const) {
    it(`ends all sessions of a person who is ${end}, and no others`, async () => {
      const sessions = [await scene.session(), await scene.session()];
      const other = await scene.session({ name: 'i-2' });
      scene.answer = end;
      const [first] = sessions;
      expect(first && (await scene.freshness.renewed(first, CALL))).to.equal(end);
      for (const { id } of sessions) expect(scene.sessions.get(id)).to.equal(undefined);
      expect(scene.sessions.get(other.id)?.id).to.equal(other.id);
    });
  }

  it('keeps a session with the new password, when an earlier session ends', async () => {
    const sessions: StoredSession[] = [];
    for (const password of ['first', 'second', 'second', 'third']) {
      sessions.push(await scene.session({ upstream: await scene.seal.seal(password) }));
      scene.now += 1000;
    }
    const [, second, , third] = sessions;
    scene.answer = 'password changed';
    expect(second && (await scene.freshness.renewed(second, CALL))).to.equal('password changed');
    const kept = sessions.filter(({ id }) => scene.sessions.get(id));
    expect(kept.map(({ id }) => id)).to.deep.equal([third?.id]);
  });

  it('ends only the session that the provider cannot confirm', async () => {
    const [session, other] = [await scene.session(), await scene.session()];
    scene.answer = 'not confirmable';
    expect(await scene.freshness.renewed(session, CALL)).to.equal('not confirmable');
    expect([scene.sessions.get(session.id), scene.sessions.get(other.id)?.id]).to.deep.equal([
      undefined,
      other.id,
    ]);
  });

  it('ends the sessions of a provider that was removed', async () => {
    scene.identity = { ...IDENTITY, provider: 'removed' };
    expect(await scene.freshness.renewed(await scene.session(), CALL)).to.equal('provider removed');
    expect(scene.asked).to.deep.equal([]);
  });

  it('tolerates an outage for a time after the last confirmation, then fails with a clear error, and keeps the session', async () => {
    const session = await scene.session();
    scene.answer = new ProviderUnavailable('down');
    scene.now += HOUR;
    expect(await scene.freshness.renewed(session, CALL)).to.equal(session);
    scene.now += 1;
    const error = await rejection(scene.freshness.renewed(session, CALL));
    if (!(error instanceof OAuthError)) throw error;
    expect([error.status, error.code, error.retryAfterSeconds]).to.deep.equal([
      503,
      'temporarily_unavailable',
      10,
    ]);
    expect(error.message).to.equal('Company ??? cannot confirm the user at the moment');
    expect(scene.sessions.get(session.id)?.id).to.equal(session.id);
  });

  it('does not refresh a session with only some of the groups', async () => {
    scene.answer = scene.person('one', 'two', 'three');
    const error = await rejection(scene.freshness.renewed(await scene.session(), CALL));
    expect(error.message).to.contain('too many groups');
  });
});

describe('Seal', () => {
  it('opens only what was sealed with its keys', async () => {
    const purpose = 'upstream state of a session';
    const keys = await memoryKeyRing();
    const [one, other] = [new Seal(keys, purpose), new Seal(await memoryKeyRing(), purpose)];
    const redirect = new Seal(keys, 'redirect to a provider');
    const sealed = await one.seal('secret');
    expect(sealed).to.not.contain(Buffer.from('secret').toString('base64url'));
    expect(await one.open(sealed)).to.equal('secret');
    expect(await redirect.open(sealed)).to.equal(undefined);
    for (const opened of [other.open(sealed), one.open(`${sealed}x`), one.open('x'), one.open(undefined)]) {
      expect(await opened).to.equal(undefined);
    }
  });
});
