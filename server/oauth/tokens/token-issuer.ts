// Makes access tokens (RFC 9068) and id tokens. Whether somebody may have one was decided before, by a grant.
import { hash, randomBytes } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { ID_TOKEN_JTI, OWN_JTI } from '../../../apis/oauth/claim-mapping.ts';
import { OAuthError } from '../../../apis/oauth/errors.ts';
import type { OAuthClient } from '../clients/oauth-client.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { RandomBytes } from '../keys/random-bytes.ts';
import type { Session } from '../sessions/session.ts';
import type { Account } from '../users/account.ts';
import { scopedClaims } from './scoped-claims.ts';
import { MAX_TOKEN } from './token-shape.ts';

export interface TokenIssuerOptions {
  readonly keys: Pick<KeyRing, 'signing'>;
  /** The URL of the handler, byte for byte as everybody is told it. */
  readonly issuer: () => string;
  /** Who access tokens are for. */
  readonly audience: string;
  /** Ms since the epoch. */
  readonly now?: () => number;
  readonly random?: RandomBytes;
}

/** Whom a token is for, and what it hangs on. */
export interface TokenSubject {
  readonly client: Pick<OAuthClient, 'id' | 'accessTokenLifetime'>;
  readonly account: Account;
  readonly session: Pick<Session, 'id' | 'createdAt' | 'notAfter'>;
  /** Granted ones. */
  readonly scopes: readonly string[];
}

export interface IssuedToken {
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
   * Never longer-lived than the session. Throws ServiceUnavailable while there is no key, OAuthError for somebody whose
   * groups no token can name.
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
      auth_time: Math.floor(session.createdAt / 1000),
      sid: session.id,
      uid: account.uid,
      groups: account.groups,
      ...(scopes.length > 0 ? { scope: scopes.join(' ') } : {}),
    });
    if (token.length > MAX_TOKEN) throw tooManyGroups(account);
    return { token, expiresIn: exp - iat };
  }

  /**
   * For the client to read, never to be accepted as access: another `typ`, another kind of `jti`, and `aud` is the
   * client. Bound to the access token beside it (OpenID Connect Core, 3.1.3.6). Id and uid are for a kube-apiserver that
   * is told to take id tokens: so the same user comes of it, and we can refuse what it hands on of an ended session.
   */
  idToken(
    subject: TokenSubject,
    { nonce, accessToken }: { readonly nonce?: string; readonly accessToken?: string } = {},
  ): string {
    const { client, account, session, scopes } = subject;
    const { iat, exp } = this.#times(client, session);
    return this.#sign('JWT', {
      iss: this.#options.issuer(),
      sub: account.name,
      aud: client.id,
      exp,
      iat,
      jti: this.#jti(ID_TOKEN_JTI, session),
      auth_time: Math.floor(session.createdAt / 1000),
      sid: session.id,
      uid: account.uid,
      ...(nonce === undefined ? {} : { nonce }),
      ...(accessToken === undefined ? {} : { at_hash: halfHash(accessToken) }),
      ...scopedClaims(account, scopes),
    });
  }

  #jti(kind: string, { id }: TokenSubject['session']): string {
    return `${kind}${id}.${this.#random(12).toString('base64url')}`;
  }

  #times(client: TokenSubject['client'], session: TokenSubject['session']): { iat: number; exp: number } {
    const iat = Math.floor(this.#now() / 1000);
    return { iat, exp: Math.min(iat + client.accessTokenLifetime, Math.floor(session.notAfter / 1000)) };
  }

  /** The compact form of RFC 7515. */
  #sign(typ: string, claims: JWTPayload): string {
    const key = this.#options.keys.signing();
    const header = { alg: 'ES256', typ, kid: key.kid };
    const input = `${base64url(header)}.${base64url(claims)}`;
    return `${input}.${key.sign(input).toString('base64url')}`;
  }
}

/** Only possible when an older definition of users let more groups in than today's does. */
function tooManyGroups({ name, groups }: Account): OAuthError {
  const cure = 'take some away from the User object, or give them shorter names';
  return new OAuthError(
    500,
    'server_error',
    'you are in more groups than a token can name: ask an administrator to take you out of some',
    { cause: new Error(`user ${name} is in ${groups.length} groups, more than a token can name: ${cure}`) },
  );
}

function base64url(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function halfHash(token: string): string {
  return hash('sha256', token, 'buffer').subarray(0, 16).toString('base64url');
}
