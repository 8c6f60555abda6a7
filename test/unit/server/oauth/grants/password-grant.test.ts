// Tests of the password grant: the limit of groups in a token, and a missing signing key.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { pino } from 'pino';
import { OAuthError } from '../../../../../apis/oauth/errors.ts';
import { PasswordGrant } from '../../../../../server/oauth/grants/password-grant.ts';
import { SessionCreator } from '../../../../../server/oauth/sessions/session-creator.ts';
import { TokenIssuer, type TokenResponse } from '../../../../../server/oauth/tokens/token-issuer.ts';
import type { Account } from '../../../../../server/oauth/users/account.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import {
  ALICE,
  ISSUER,
  passwordSince,
  type Replica,
  SignedInCluster,
} from '../../../../support/oauth/signed-in.ts';

/** The maximum number of groups, with names of maximum length; each character takes four bytes. */
const ALL_GROUPS = Array.from({ length: 64 }, (_, i) => `${i}`.padStart(2, '0') + '\u{10348}'.repeat(126));

describe('the password grant', () => {
  let cluster: SignedInCluster;
  let replica: Replica;

  beforeEach(async () => {
    cluster = await SignedInCluster.start();
    replica = cluster.replica();
  });

  function signIn(account: Account, issuer = cluster.issuer): Promise<TokenResponse> {
    const grant = new PasswordGrant({
      signIn: { check: () => Promise.resolve({ account, credential: passwordSince(0) }) },
      sessions: new SessionCreator({
        sessions: replica.sessions,
        sessionsPerUser: 50,
        random: randomBytes,
        now: () => cluster.now,
        log: pino({ level: 'silent' }),
      }),
      tokens: issuer,
    });
    return grant.exchange({
      client: newClient('console'),
      form: new Map([
        ['username', account.name],
        ['password', 'correct horse battery'],
        ['scope', 'openid groups'],
      ]),
      source: '192.0.2.7',
      userAgent: 'test',
      requestID: 'r-1',
      signal: new AbortController().signal,
    });
  }

  it('stores no session when the groups do not fit into a token, and reports it to the user and in the log', async () => {
    const groups = ALL_GROUPS.flatMap((group) => [`${group}a`, `${group}b`]);
    const error = await signIn({ ...ALICE, groups }).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(OAuthError).with.property('code', 'server_error');
    expect(error)
      .to.have.property('message')
      .that.matches(/groups.*administrator/);
    expect(error)
      .to.have.nested.property('cause.message')
      .that.matches(/128 groups of user alice/);
    expect(cluster.shared.objects.size).to.equal(0);
  });

  it('stores no session while there is no signing key', async () => {
    const issuer = new TokenIssuer({
      keys: {
        signing: () => {
          throw new Error('no key');
        },
      },
      issuer: () => ISSUER,
      audience: 'platform',
      now: () => cluster.now,
    });
    await signIn(ALICE, issuer).catch(() => undefined);
    expect(cluster.shared.objects.size).to.equal(0);
  });
});
