// Tests of the validity check of sessions.
import { expect } from 'chai';
import { byPassword } from '../../../../../server/oauth/sessions/proof.ts';
import { SessionValidity } from '../../../../../server/oauth/sessions/session-validity.ts';
import type { Account, Credential } from '../../../../../server/oauth/users/account.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';
import { NO_IDENTITIES } from '../../../../support/oauth/no-providers.ts';
import { ALICE, passwordSince } from '../../../../support/oauth/signed-in.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const PASSWORD = passwordSince(NOW - 1_000);
const { signal } = new AbortController();

describe('SessionValidity', () => {
  let account: Account | undefined;
  let credential: Credential | undefined;
  let reads: string[];
  let validity: SessionValidity;
  beforeEach(() => {
    account = ALICE;
    credential = PASSWORD;
    reads = [];
    validity = new SessionValidity({
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
      identities: NO_IDENTITIES,
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

  it('reads nothing for an old session', async () => {
    account = undefined;
    expect(await endOf(60_000)).to.equal('user deleted');
    expect(reads).to.deep.equal([]);
  });
});
