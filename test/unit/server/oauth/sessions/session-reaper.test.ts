// Tests of the garbage collection of invalid Session objects.
import { expect } from 'chai';
import {
  newConflict,
  newForbidden,
  newServiceUnavailable,
  newTimeout,
  newTooManyRequests,
} from '../../../../../apis/meta/v1/errors.ts';
import { byPassword } from '../../../../../server/oauth/sessions/proof.ts';
import {
  NO_CLIENT,
  NO_USER,
  type ObjectVersion,
  type Session,
} from '../../../../../server/oauth/sessions/session.ts';
import type { FoundSession } from '../../../../../server/oauth/sessions/session-object.ts';
import { SessionReaper } from '../../../../../server/oauth/sessions/session-reaper.ts';
import { SessionValidity } from '../../../../../server/oauth/sessions/session-validity.ts';
import type { Account, Credential } from '../../../../../server/oauth/users/account.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';
import { NO_AUTHENTICATORS } from '../../../../support/oauth/no-factors.ts';
import { NO_IDENTITIES } from '../../../../support/oauth/no-providers.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import { NO_FACTORS_NEEDED } from '../../../../support/oauth/second-factors.ts';
import { ALICE, log, passwordSince } from '../../../../support/oauth/signed-in.ts';
import { rejection } from '../../../../support/rejection.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const DAY = 86_400_000;
const PASSWORD = passwordSince(NOW - DAY);
const { signal } = new AbortController();

describe('the session reaper', () => {
  let now: number;
  let objects: Map<string, FoundSession>;
  let forged: Set<string>;
  let account: Account | undefined;
  let credential: Credential | undefined;
  let keepsAfterSignOut: boolean;
  let remove: (name: string, exactly: ObjectVersion | undefined) => void;
  let reasons: string[];

  const sessions = {
    fresh: true,
    all: () => objects.values(),
    isGenuine: ({ name }: FoundSession) => !forged.has(name),
    has: (name: string) => objects.has(name),
    read: async () => undefined,
    ofUser: (user: string) =>
      [...objects.values()].flatMap(({ session }) =>
        session?.user === user && session.notAfter > now ? session : [],
      ),
    remove: async (name: string, _signal: AbortSignal, exactly?: ObjectVersion) => remove(name, exactly),
  };
  const users = { synced: true, get: () => account };
  const credentials = { synced: true, get: () => credential };
  const reaper = new SessionReaper({
    sessions,
    validity: new SessionValidity({
      factorPolicy: NO_FACTORS_NEEDED,

      users,
      credentials,
      identities: NO_IDENTITIES,
      sessions,
      clients: { get: (id) => newClient(id, { keepAfterSignOut: keepsAfterSignOut }) },
      authenticators: NO_AUTHENTICATORS,
      now: () => now,
    }),
    now: () => now,
    log,
    removed: (reason) => reasons.push(reason),
  });

  beforeEach(() => {
    now = NOW;
    objects = new Map();
    forged = new Set();
    account = ALICE;
    credential = PASSWORD;
    keepsAfterSignOut = false;
    remove = (name) => objects.delete(name);
    reasons = [];
  });

  function add(changes: Partial<Session> = {}): string {
    const createdAt = NOW - 60_000;
    const times = { createdAt, lastUsedAt: createdAt, notAfter: NOW + DAY, idleNotAfter: NOW + DAY };
    const session = newSession({ ...times, ...changes });
    const { id } = session;
    const version = { uid: `uid-${id}`, resourceVersion: '1' };
    const creationTime = session.createdAt;
    objects.set(id, { ...version, name: id, creationTime, session: { ...session, ...version }, mac: '' });
    return id;
  }

  async function expectRemoved(...expected: string[]): Promise<void> {
    reasons.length = 0;
    expect(await reaper.sweep(signal)).to.equal(expected.length);
    expect(reasons).to.deep.equal(expected);
  }

  it('keeps open device requests until they expire', async () => {
    account = undefined;
    add({ user: NO_USER });
    await expectRemoved();
    now = NOW + DAY;
    await expectRemoved('expired');
  });

  it('deletes expired sessions with a precondition on the version', async () => {
    const expired = [add({ notAfter: NOW }), add({ idleNotAfter: NOW })];
    const live = add();
    const versions: (string | undefined)[] = [];
    remove = (name, exactly) => {
      versions.push(exactly?.uid);
      objects.delete(name);
    };
    await expectRemoved('expired', 'expired');
    expect([...objects.keys()]).to.deep.equal([live]);
    expect(versions).to.deep.equal(expired.map((id) => `uid-${id}`));
  });

  for (const [reason, change] of [
    ['user deleted', () => (account = undefined)],
    ['user recreated', () => (account = { ...ALICE, uid: 'another' })],
    ['user disabled', () => (account = { ...ALICE, disabled: true })],
    ['password changed', () => (credential = passwordSince(NOW - 59_999))],
    ['password deleted', () => (credential = undefined)],
    ['password recreated', () => (credential = { ...PASSWORD, uid: 'another' })],
  ] as const) {
    it(`deletes sessions for the reason: ${reason}`, async () => {
      add({ authentication: byPassword(PASSWORD, NOW) });
      change();
      await expectRemoved(reason);
    });
  }

  it('does not check the user of a new session, because the cache may lag', async () => {
    add({ createdAt: NOW - 1_000 });
    account = undefined;
    await expectRemoved();
    now += 5_000;
    await expectRemoved('user deleted');
  });

  const begun = (browser: string): string =>
    add({ browser, authentication: byPassword(PASSWORD, NOW - 60_000) });

  it('deletes the sessions that began with a deleted browser session, except those of clients that outlive it', async () => {
    const browser = add({ clientID: NO_CLIENT });
    const [session, other] = [begun(browser), add()];
    await expectRemoved();
    objects.delete(browser);
    keepsAfterSignOut = true;
    await expectRemoved();
    keepsAfterSignOut = false;
    await expectRemoved('signed out');
    expect([...objects.keys()])
      .to.deep.equal([other])
      .and.to.not.include(session);
  });

  it('keeps an expired browser session as long as sessions that began with it', async () => {
    const browser = add({ clientID: NO_CLIENT, notAfter: NOW + 1 });
    begun(browser);
    now += 1;
    await expectRemoved();
    now = NOW + DAY;
    await expectRemoved('expired', 'expired');
  });

  it('deletes nothing while a cache is stale', async () => {
    add({ notAfter: NOW });
    for (const [cache, property] of [
      [sessions, 'fresh'],
      [users, 'synced'],
      [credentials, 'synced'],
    ] as const) {
      Object.assign(cache, { [property]: false });
      await expectRemoved();
      Object.assign(cache, { [property]: true });
    }
  });

  it('deletes sessions with an invalid MAC after a day only', async () => {
    forged.add(add({ notAfter: NOW }));
    await expectRemoved();
    now += DAY;
    await expectRemoved('invalid');
  });

  it('continues after a conflict and a rejected deletion, and reports the latter', async () => {
    const [kept, changed] = [add({ notAfter: NOW }), add({ notAfter: NOW })];
    add({ notAfter: NOW });
    remove = (name) => {
      if (name === kept) throw newForbidden(undefined, name, 'a webhook denied it');
      if (name === changed) throw newConflict({ group: '', resource: 'sessions' }, name, 'changed');
      objects.delete(name);
    };
    expect(await rejection(reaper.sweep(signal))).to.have.property('reason', 'Forbidden');
    expect([...objects.keys()]).to.deep.equal([kept, changed]);
    expect(reasons).to.deep.equal(['expired']);
  });

  for (const error of [
    new Error('the cluster is unavailable'),
    newServiceUnavailable('no leader', 1),
    newTooManyRequests('wait', 1),
    newTimeout('too slow', 1),
  ]) {
    it(`stops when the cluster is unavailable, and reports it: ${error.message}`, async () => {
      const all = [add({ notAfter: NOW }), add({ notAfter: NOW })];
      let attempts = 0;
      remove = () => {
        attempts++;
        throw error;
      };
      expect(await rejection(reaper.sweep(signal))).to.equal(error);
      expect([attempts, ...objects.keys()]).to.deep.equal([1, ...all]);
      expect(reasons).to.deep.equal([]);
    });
  }
});
