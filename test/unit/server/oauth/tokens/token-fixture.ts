// Creates an issuer and a verifier of access tokens, with users and sessions in memory, for unit tests.
import type { JWTHeaderParameters, JWTPayload } from 'jose';
import type { KeyRing } from '../../../../../server/oauth/keys/key-ring.ts';
import {
  RevocationCheck,
  TokenIDCheck,
  type TokenSession,
} from '../../../../../server/oauth/tokens/revocation-check.ts';
import { TokenIssuer } from '../../../../../server/oauth/tokens/token-issuer.ts';
import { TokenVerifier } from '../../../../../server/oauth/tokens/token-verifier.ts';
import type { Account, Credential } from '../../../../../server/oauth/users/account.ts';
import { memoryKeyRing, signedBy } from '../../../../support/oauth/memory-key-ring.ts';

export const ISSUER = 'https://localhost:9443/oauth';
export const AUDIENCE = 'platform';
export const NOW = Date.parse('2026-11-21T12:00:00Z');
export const CLIENT = { id: 'console', accessTokenLifetime: 7200 };
const SESSION_ID = 's-abcdefghijklmnopqrst';

export const ALICE: Account = {
  name: 'alice',
  uid: 'uid-of-alice',
  email: 'alice@example.com',
  displayName: 'Alice',
  groups: ['developers', 'platform-admins'],
  disabled: false,
};

export const SESSION = {
  id: SESSION_ID,
  user: 'alice',
  userUID: ALICE.uid,
  clientID: CLIENT.id,
  createdAt: NOW - 60_000,
  notAfter: NOW + 30 * 86_400_000,
  idleNotAfter: NOW + 7 * 86_400_000,
};

export const CREDENTIAL: Credential = {
  uid: 'uid-of-her-password',
  passwordHash: '',
  userUID: ALICE.uid,
  mustChange: false,
  changedAt: SESSION.createdAt - 1,
  resourceVersion: '1',
};

/** The state behind a token, for tests to change. */
export class TokenFixture {
  now = NOW;
  /** The session in the cluster, and in the cache. */
  stored: TokenSession | undefined = SESSION;
  cached: TokenSession | undefined = SESSION;
  account: Account | undefined = ALICE;
  storedAccount: Account | undefined = ALICE;
  lookups = 0;
  credential: Credential | undefined = CREDENTIAL;
  reads = 0;
  rereads = 0;
  readonly stands = {
    sessions: {
      fresh: true,
      get: () => this.cached,
      read: () => {
        this.reads++;
        return Promise.resolve(this.stored);
      },
    },
    users: {
      synced: true,
      get: () => this.account,
      catchUp: () => {
        this.lookups++;
        this.account = this.storedAccount;
        return Promise.resolve();
      },
    },
    credentials: { synced: true, get: () => this.credential },
    acceptWhenStale: false,
    now: () => this.now,
  };
  keys: KeyRing;
  readonly issuer: TokenIssuer;
  readonly verifier: TokenVerifier;
  readonly ids: TokenIDCheck;

  private constructor(keys: KeyRing) {
    this.keys = keys;
    const now = (): number => this.now;
    this.issuer = new TokenIssuer({
      keys: { signing: () => this.keys.signing() },
      issuer: () => ISSUER,
      audience: AUDIENCE,
      now,
    });
    const revocation = new RevocationCheck(this.stands);
    this.ids = new TokenIDCheck(revocation);
    this.verifier = new TokenVerifier({
      keys: {
        ready: true,
        verification: (kid) => this.keys.verification(kid),
        reread: () => {
          this.rereads++;
          return Promise.resolve();
        },
      },
      issuer: () => ISSUER,
      audience: AUDIENCE,
      revocation,
      now,
    });
  }

  static async make(): Promise<TokenFixture> {
    return new TokenFixture(await memoryKeyRing());
  }

  token(): string {
    const subject = { client: CLIENT, account: ALICE, session: SESSION, scopes: ['openid'] };
    return this.issuer.accessToken(subject).token;
  }

  /** A token with our signature and any claims. */
  sign(claims: Readonly<Record<string, unknown>>, header: Partial<JWTHeaderParameters> = {}): string {
    const key = this.keys.signing();
    return signedBy(
      key,
      { alg: 'ES256', typ: 'at+jwt', kid: key.kid, ...header },
      { ...this.claims(), ...claims },
    );
  }

  claims(): JWTPayload {
    return {
      iss: ISSUER,
      sub: 'alice',
      aud: AUDIENCE,
      exp: this.now / 1000 + 60,
      iat: this.now / 1000,
      jti: `ks.${SESSION_ID}.AAAAAAAAAAAAAAAA`,
      client_id: CLIENT.id,
      groups: ['developers'],
      sid: SESSION_ID,
      uid: ALICE.uid,
    };
  }
}
