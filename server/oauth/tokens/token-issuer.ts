// TokenIssuer: signs access tokens (RFC 9068) and ID tokens. The grants decide whether to issue a token.
import { hash, randomBytes } from 'node:crypto';
import type { JWTPayload } from 'jose';
import type { Static } from 'typebox';
import { ID_TOKEN_JTI, OWN_JTI } from '../../../apis/oauth/claim-mapping.ts';
import { OAuthError } from '../../../apis/oauth/oauth-error.ts';
import type { TokenResponseSchema } from '../../../apis/oauth/response-schemas.ts';
import type { OAuthClient } from '../clients/oauth-client.ts';
import type { KeyRing, RandomBytes } from '../keys/key-ring.ts';
import type { SigningAlgorithm } from '../keys/key-set.ts';
import { type AcrValue, acrOf } from '../sessions/proof.ts';
import { authTimeOf, type Session } from '../sessions/session.ts';
import type { Account } from '../users/account.ts';
import { idTokenClaims } from '../users/user-claims.ts';
import { ID_TOKEN_TYPE, MAX_TOKEN } from './access-token.ts';

export interface TokenIssuerOptions {
  readonly keys: Pick<KeyRing, 'ready' | 'signing'>;
  /** The issuer URL, byte for byte as clients know it. */
  readonly issuer: () => string;
  /** `aud` of access tokens. */
  readonly audience: string;
  /** Ms since the epoch. */
  readonly now?: () => number;
  readonly random?: RandomBytes;
}

/** User of the tokens that check the trust of kube-apiserver. */
const CHECK_USER = 'ks-apiserver-check';
/** Seconds. */
const CHECK_LIFETIME = 60;
/** Seconds; at most two minutes are recommended. */
const LOGOUT_LIFETIME = 120;

/** User, client and session of a token. */
interface TokenSubject {
  readonly client: Pick<OAuthClient, 'id' | 'accessTokenLifetime' | 'idTokenAlgorithm' | 'scopes'>;
  readonly account: Account;
  readonly session: Pick<Session, 'id' | 'createdAt' | 'notAfter' | 'authentication' | 'claims'>;
  /** Granted scopes. */
  readonly scopes: readonly string[];
}

interface GrantedSession extends TokenSubject {
  readonly refreshToken?: string | undefined;
  /** `nonce` of the authorization request. */
  readonly nonce?: string | undefined;
}

/** RFC 6749, 5.1. */
export type TokenResponse = Readonly<Static<typeof TokenResponseSchema>>;

interface IssuedToken {
  readonly token: string;
  /** Seconds. */
  readonly expiresIn: number;
}

export class TokenIssuer {
  readonly #options: TokenIssuerOptions;
  readonly #now: () => number;
  readonly #random: RandomBytes;

  constructor(options: TokenIssuerOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#random = options.random ?? randomBytes;
  }

  /**
   * The token response of a session, with an ID token if the scopes contain `openid`. The session need not be stored yet.
   * Throws as `accessToken` does.
   */
  tokenResponse({ refreshToken, nonce, ...subject }: GrantedSession): TokenResponse {
    const { scopes } = subject;
    const { token, expiresIn } = this.accessToken(subject);
    return {
      access_token: token,
      token_type: 'Bearer',
      ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
      expires_in: expiresIn,
      ...(scopes.length > 0 ? { scope: scopes.join(' ') } : {}),
      ...(scopes.includes('openid')
        ? { id_token: this.idToken(subject, { nonce, accessToken: token }) }
        : {}),
    };
  }

  /**
   * An access token that expires no later than its session. Throws ServiceUnavailable while there is no key, OAuthError when
   * the groups of the user do not fit into a token.
   */
  accessToken({ client, account, session, scopes }: TokenSubject): IssuedToken {
    const { iat, exp } = this.#times(client, session);
    const token = this.#sign('at+jwt', {
      iss: this.#options.issuer(),
      sub: account.name,
      aud: this.#options.audience,
      exp,
      iat,
      jti: this.#jti(OWN_JTI, session),
      client_id: client.id,
      auth_time: Math.floor(authTimeOf(session) / 1000),
      ...acrClaim(session),
      sid: session.id,
      uid: account.uid,
      // KubeSphere consoles read the name of the user from this claim.
      username: account.name,
      groups: account.groups,
      ...(scopes.length > 0 ? { scope: scopes.join(' ') } : {}),
    });
    if (token.length > MAX_TOKEN) throw tooManyGroups(account);
    return { token, expiresIn: exp - iat };
  }

  /**
   * An access token, or an ID token of a client, that this server does not accept, because its session does not exist.
   * kube-apiserver accepts it for one minute as CHECK_USER, without groups. Undefined until the keys are loaded.
   */
  checkToken(idTokenOf?: string): { readonly text: string; readonly user: string } | undefined {
    if (!this.#options.keys.ready) return undefined;
    const now = this.#now();
    const id = `s-check-${this.#random(12).toString('hex')}`;
    const client = { accessTokenLifetime: CHECK_LIFETIME, idTokenAlgorithm: 'ES256', scopes: [] } as const;
    const subject = {
      client: { ...client, id: idTokenOf ?? CHECK_USER },
      account: { name: CHECK_USER, uid: id, email: '', displayName: '', groups: [], disabled: false },
      session: { id, createdAt: now, notAfter: now + CHECK_LIFETIME * 1000 },
      scopes: [],
    };
    const text = idTokenOf === undefined ? this.accessToken(subject).token : this.idToken(subject);
    return { text, user: CHECK_USER };
  }

  /**
   * An ID token. It is not valid as an access token: `typ`, `jti` prefix and `aud` (the client) differ. `at_hash` binds it
   * to the access token (OpenID Connect Core, 3.1.3.6). `jti` and `uid` serve a kube-apiserver that is configured to accept
   * ID tokens: it derives the same user, and this server can reject forwarded requests of a revoked session.
   */
  idToken(
    subject: TokenSubject,
    { nonce, accessToken }: { readonly nonce?: string | undefined; readonly accessToken?: string } = {},
  ): string {
    const { client, account, session, scopes } = subject;
    const { iat, exp } = this.#times(client, session);
    const claims = {
      iss: this.#options.issuer(),
      sub: account.name,
      aud: client.id,
      exp,
      iat,
      jti: this.#jti(ID_TOKEN_JTI, session),
      auth_time: Math.floor(authTimeOf(session) / 1000),
      ...acrClaim(session),
      ...(session.authentication ? { amr: session.authentication.amr } : {}),
      sid: session.id,
      uid: account.uid,
      ...(nonce === undefined ? {} : { nonce }),
      ...(accessToken === undefined ? {} : { at_hash: leftHalfHash(accessToken) }),
      ...idTokenClaims(account, { scopes, requested: session.claims, allowed: client.scopes }),
    };
    return this.#sign(ID_TOKEN_TYPE, claims, client.idTokenAlgorithm);
  }

  /** A logout token (OpenID Connect Back-Channel Logout, 2.4), with the algorithm of the client's ID tokens. */
  logoutToken(
    { id, idTokenAlgorithm }: Pick<OAuthClient, 'id' | 'idTokenAlgorithm'>,
    session: Pick<Session, 'id' | 'user'>,
  ): string {
    const iat = Math.floor(this.#now() / 1000);
    const claims = {
      iss: this.#options.issuer(),
      sub: session.user,
      aud: id,
      iat,
      exp: iat + LOGOUT_LIFETIME,
      jti: `kl.${this.#random(12).toString('base64url')}`,
      sid: session.id,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    };
    return this.#sign('logout+jwt', claims, idTokenAlgorithm);
  }

  #jti(prefix: string, { id }: TokenSubject['session']): string {
    return `${prefix}${id}.${this.#random(12).toString('base64url')}`;
  }

  #times(client: TokenSubject['client'], session: TokenSubject['session']): { iat: number; exp: number } {
    const iat = Math.floor(this.#now() / 1000);
    return { iat, exp: Math.min(iat + client.accessTokenLifetime, Math.floor(session.notAfter / 1000)) };
  }

  /** JWS compact serialization (RFC 7515, 7.1). */
  #sign(typ: string, claims: JWTPayload, algorithm: SigningAlgorithm = 'ES256'): string {
    const key = this.#options.keys.signing(algorithm);
    const header = { alg: key.algorithm, typ, kid: key.kid };
    const input = `${base64url(header)}.${base64url(claims)}`;
    return `${input}.${key.sign(input).toString('base64url')}`;
  }
}

/** The configured issuer, or the default for this port of the secure listener. */
export function issuerOf({ issuer }: { readonly issuer: string }, securePort: number): string {
  return issuer || `https://localhost:${securePort}/oauth`;
}

/** Only possible for a User object that is older than the limits in the CustomResourceDefinition. */
function tooManyGroups({ name, groups }: Account): OAuthError {
  return new OAuthError(
    500,
    'server_error',
    'the groups of the user exceed the size of a token: an administrator must remove some of them',
    {
      cause: new Error(
        `the ${groups.length} groups of user ${name} exceed the size of a token: remove groups from the User object, or shorten their names`,
      ),
    },
  );
}

function acrClaim({ authentication }: TokenSubject['session']): { acr?: AcrValue } {
  return authentication ? { acr: authentication.acr ?? acrOf(authentication.amr) } : {};
}

function base64url(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function leftHalfHash(token: string): string {
  return hash('sha256', token, 'buffer').subarray(0, 16).toString('base64url');
}
