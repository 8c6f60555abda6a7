// Tests of the validity check of sessions.
import { expect } from 'chai';
import { SessionValidity } from '../../../../../server/oauth/sessions/session-validity.ts';
import type { Account, Credential } from '../../../../../server/oauth/users/account.ts';
import { newAccount } from '../../../../support/oauth/new-account.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const signal = new AbortController().signal;

const ALICE = newAccount('alice');
const PASSWORD: Credential = {
  uid: 'uid-of-her-password',
  passwordHash: '',
  userUID: ALICE.uid,
  mustChange: false,
  changedAt: NOW - 1_000,
  resourceVersion: '1',
};

/** The state of the cluster, and of the cache until `catchUp`. */
class Known {
  account: Account | undefined = ALICE;
  credential: Credential | undefined = PASSWORD;
  readonly requests: string[] = [];
  stored: { account: Account | undefined; credential: Credential | undefined } = {
    account: ALICE,
    credential: PASSWORD,
  };
  readonly holders = new SessionValidity({
    users: {
      get: () => this.account,
      catchUp: async (name) => {
        this.requests.push(name);
        this.account = this.stored.account;
      },
    },
    credentials: {
      get: () => this.credential,
      catchUp: async () => {
        this.credential = this.stored.credential;
      },
    },
    now: () => NOW,
  });
}

describe('SessionValidity', () => {
  const young = newSession({ user: 'alice', userUID: ALICE.uid, createdAt: NOW - 500 });
  const old = newSession({ user: 'alice', userUID: ALICE.uid, createdAt: NOW - 60_000 });
  let known: Known;
  beforeEach(() => {
    known = new Known();
  });

  it('reads nothing while the cache is complete', async () => {
    expect(await known.holders.confirmedEnd(young, signal)).to.equal(undefined);
    expect(known.requests).to.deep.equal([]);
  });

  for (const [what, forget] of [
    ['the user', () => (known.account = undefined)],
    ['the new user of the same name', () => (known.account = { ...ALICE, uid: 'an earlier one' })],
    ['the enabled user', () => (known.account = { ...ALICE, disabled: true })],
    ['the password', () => (known.credential = undefined)],
    ['the new password', () => (known.credential = { ...PASSWORD, changedAt: PASSWORD.changedAt - 1 })],
    [
      'the password that a clock far behind dated',
      () => (known.credential = { ...PASSWORD, changedAt: NOW + 86_400_000 }),
    ],
    [
      'the recreated password',
      () => (known.credential = { ...PASSWORD, uid: 'the one before', changedAt: NOW }),
    ],
  ] as const) {
    it(`reads the cluster for a young session when the cache lacks ${what}`, async () => {
      forget();
      const session = { ...young, passwordAt: PASSWORD.changedAt, credentialUID: PASSWORD.uid };
      expect(await known.holders.confirmedEnd(session, signal)).to.equal(undefined);
      expect(known.requests).to.deep.equal(['alice']);
    });
  }

  it('reads nothing for an old session', async () => {
    known.account = undefined;
    known.credential = { ...PASSWORD, changedAt: 0 };
    expect(await known.holders.confirmedEnd(old, signal)).to.equal('user deleted');
    expect(known.requests).to.deep.equal([]);
  });
});
