// Tests of the validity check of sessions.
import { expect } from 'chai';
import { byIdentity, byPassword } from '../../../../../server/oauth/sessions/proof.ts';
import { SessionValidity } from '../../../../../server/oauth/sessions/session-validity.ts';
import type { Account, Credential } from '../../../../../server/oauth/users/account.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';
import { NO_AUTHENTICATORS } from '../../../../support/oauth/no-factors.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import { NO_FACTORS_NEEDED } from '../../../../support/oauth/second-factors.ts';
import { ALICE, passwordSince } from '../../../../support/oauth/signed-in.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const PASSWORD = passwordSince(NOW - 1_000);
const { signal } = new AbortController();
const IDENTITY = {
  name: 'i-1',
  uid: 'uid-of-i-1',
  provider: 'company',
  issuer: 'https://sso',
  subject: 's',
  user: 'alice',
  userUID: ALICE.uid,
  displayName: '',
};
const BROWSER = 's-bbbbbbbbbbbbbbbbbbbb';
const DELETED = 's-dddddddddddddddddddd';
const STORED = { ...newSession({ id: BROWSER }), uid: '', resourceVersion: '' };

describe('SessionValidity', () => {
  let account: Account | undefined;
  let credential: Credential | undefined;
  let reads: string[];
  let browsers: readonly string[];
  let validity: SessionValidity;
  beforeEach(() => {
    account = ALICE;
    credential = PASSWORD;
    reads = [];
    browsers = [BROWSER];
    validity = new SessionValidity({
      factorPolicy: NO_FACTORS_NEEDED,

      users: {
        synced: true,
        get: () => account,
        catchUp: async (name) => {
          reads.push(name);
          account = ALICE;
        },
      },
      credentials: {
        synced: true,
        get: () => credential,
        catchUp: async () => {
          credential = PASSWORD;
        },
      },
      identities: { synced: true, get: () => IDENTITY },
      sessions: {
        has: (id) => browsers.includes(id),
        read: async (id) => {
          reads.push(id);
          return id === BROWSER ? STORED : undefined;
        },
      },
      clients: { get: (id) => newClient(id, { keepAfterSignOut: id === 'kubectl' }) },
      authenticators: NO_AUTHENTICATORS,
      now: () => NOW,
    });
  });

  const endOf = (age: number) => {
    const createdAt = NOW - age;
    const authentication = byPassword(PASSWORD, createdAt);
    return validity.confirmedEnd(newSession({ createdAt, authentication }), { signal });
  };

  it('reads nothing while the cache is complete', async () => {
    expect(await endOf(500)).to.equal(undefined);
    expect(reads).to.deep.equal([]);
  });

  for (const [what, forget] of [
    ['the user', () => (account = undefined)],
    ['the new user of the same name', () => (account = { ...ALICE, uid: 'an earlier one' })],
    ['the enabled user', () => (account = { ...ALICE, disabled: true })],
    ['the password', () => (credential = undefined)],
    ['the new password', () => (credential = passwordSince(PASSWORD.changedAt - 1))],
    ['the password that a clock far behind dated', () => (credential = passwordSince(NOW + 86_400_000))],
    ['the recreated password', () => (credential = { ...passwordSince(NOW), uid: 'the one before' })],
  ] as const) {
    it(`reads the cluster for a young session when the cache lacks ${what}`, async () => {
      forget();
      expect(await endOf(500)).to.equal(undefined);
      expect(reads).to.deep.equal(['alice']);
    });
  }

  it('ends a session that began at an identity provider when the local password is changed, deleted or set', () => {
    const createdAt = NOW - 60_000;
    const proof = { kind: 'identity', ...IDENTITY, groups: [], checkedAt: createdAt } as const;
    const ends = (before: Credential | undefined, after: Credential | undefined) => {
      credential = after;
      const authentication = byIdentity(proof, before, createdAt);
      return validity.end(newSession({ createdAt, authentication }));
    };
    const earlier = passwordSince(createdAt - 1);
    expect(ends(earlier, earlier)).to.equal(undefined);
    expect(ends(earlier, passwordSince(createdAt))).to.equal('password changed');
    expect(ends(earlier, { ...earlier, uid: 'another' })).to.equal('password recreated');
    expect(ends(earlier, undefined)).to.equal('password deleted');
    expect(ends(undefined, undefined)).to.equal(undefined);
    expect(ends(undefined, PASSWORD)).to.equal('password changed');
  });

  const begun = (browser: string, changes: Parameters<typeof newSession>[0] = {}) => {
    const createdAt = NOW - 60_000;
    return newSession({ createdAt, authentication: byPassword(PASSWORD, createdAt), browser, ...changes });
  };

  it('ends the sessions that began with a deleted browser session, and all their codes', () => {
    expect(validity.end(begun(BROWSER))).to.equal(undefined);
    expect(validity.end(begun(DELETED))).to.equal('signed out');
    expect(validity.end(begun(DELETED, { clientID: 'kubectl' }))).to.equal(undefined);
    expect(validity.end(begun(DELETED, { clientID: 'kubectl', familyHash: '' }))).to.equal('signed out');
  });

  it('reads the browser session of a young session when the cache lacks it', async () => {
    browsers = [];
    const young = { createdAt: NOW - 500 };
    expect(await validity.confirmedEnd(begun(BROWSER, young), { signal })).to.equal(undefined);
    expect(await validity.confirmedEnd(begun(DELETED, young), { signal })).to.equal('signed out');
    expect(reads).to.deep.equal(['alice', BROWSER, 'alice', DELETED]);
  });

  it('reads nothing for an old session', async () => {
    account = undefined;
    expect(await endOf(60_000)).to.equal('user deleted');
    expect(reads).to.deep.equal([]);
  });
});
