// Makes access tokens (RFC 9068) and id tokens. Whether somebody may have one was decided before, by a grant.
import { hash, randomBytes } from 'node:crypto';
import { CompactSign, type JWTPayload } from 'jose';
import { OWN_JTI } from '../../../apis/oauth/claim-mapping.ts';
import { OAuthError } from '../../../apis/oauth/errors.ts';
import type { OAuthClient } from '../clients/oauth-client.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Session } from '../sessions/session.ts';
import type { Account } from '../users/account.ts';
import { MAX_TOKEN } from './token-shape.ts';

export interface TokenIssuerOptions {
  readonly keys: Pick<KeyRing, 'signing'>;
  /** The URL of the handler, byte for byte as everybody is told it. */
  readonly issuer: () => string;
  /** Who access tokens are for. */
  readonly audience: string;
  /** Ms since the epoch. */
  readonly now?: () => number;
  readonly random?: (bytes: number) => Buffer;
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
  readonly jti: string;
  /** Seconds. */
  readonly expiresIn: number;
}

export class TokenIssuer {
  readonly #options: TokenIssuerOptions;
  readonly #now: () => number;
  readonly #random: (bytes: number) => Buffer;

  constructor(options: TokenIssuerOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#random = options.random ?? randomBytes;
  }

  /** Never longer-lived than the session. Throws ServiceUnavailable while there is no key. */
  async accessToken({ client, account, session, scopes }: TokenSubject): Promise<IssuedToken> {
    const { iat, exp } = this.#times(client, session);
    const jti = `${OWN_JTI}${session.id}.${this.#random(12).toString('base64url')}`;
    const token = await this.#sign('at+jwt', {
      iss: this.#options.issuer(),
      sub: account.name,
      aud: this.#options.audience,
      exp,
      iat,
      jti,
      client_id: client.id,
      auth_time: Math.floor(session.createdAt / 1000),
      sid: session.id,
      uid: account.uid,
      groups: account.groups,
      ...(scopes.length > 0 ? { scope: scopes.join(' ') } : {}),
    });
    if (token.length > MAX_TOKEN) {
      throw new OAuthError(500, 'server_error', 'the user is in more groups than a token can name');
    }
    return { token, jti, expiresIn: exp - iat };
  }

  /**
   * For the client to read, never to be accepted as access: another `typ`, no `jti`, and `aud` is the client. Bound to
   * the access token beside it (OpenID Connect Core, 3.1.3.6).
   */
  idToken(
    subject: TokenSubject,
    { nonce, accessToken }: { readonly nonce?: string; readonly accessToken?: string } = {},
  ): Promise<string> {
    const { client, account, session, scopes } = subject;
    const { name, email, displayName, groups } = account;
    const { iat, exp } = this.#times(client, session);
    return this.#sign('JWT', {
      iss: this.#options.issuer(),
      sub: name,
      aud: client.id,
      exp,
      iat,
      auth_time: Math.floor(session.createdAt / 1000),
      sid: session.id,
      ...(nonce === undefined ? {} : { nonce }),
      ...(accessToken === undefined ? {} : { at_hash: halfHash(accessToken) }),
      ...(scopes.includes('profile')
        ? { preferred_username: name, ...(displayName === '' ? {} : { name: displayName }) }
        : {}),
      ...(scopes.includes('email') && email !== '' ? { email } : {}),
      ...(scopes.includes('groups') ? { groups } : {}),
    });
  }

  #times(client: TokenSubject['client'], session: TokenSubject['session']): { iat: number; exp: number } {
    const iat = Math.floor(this.#now() / 1000);
    return { iat, exp: Math.min(iat + client.accessTokenLifetime, Math.floor(session.notAfter / 1000)) };
  }

  #sign(typ: string, claims: JWTPayload): Promise<string> {
    const { kid, privateKey } = this.#options.keys.signing();
    // The claims are complete and ours: nothing of them has to be copied or checked first, as jose's SignJWT does.
    const payload = Buffer.from(JSON.stringify(claims));
    return new CompactSign(payload).setProtectedHeader({ alg: 'ES256', typ, kid }).sign(privateKey);
  }
}

function halfHash(token: string): string {
  return hash('sha256', token, 'buffer').subarray(0, 16).toString('base64url');
}
