// Authenticator of access tokens that this server has issued. The modules in oauth/tokens validate the tokens.
import { CLAIM_MAPPING, CREDENTIAL_ID, credentialID } from '../../apis/oauth/claim-mapping.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type { BearerToken, Identification, TokenAuthenticator } from './authenticator.ts';
import type { UserInfo } from './user.ts';

/** The name of the authenticator, by which a credential shows that this server has issued the token. */
export const ACCESS_TOKEN = 'access-token';

/** The claims of a valid token. */
export interface VerifiedToken {
  readonly sub: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly jti: string;
}

export interface TokenVerifier {
  /** Returns undefined for a token of another issuer, and the same object for the same token. Throws like TokenAuthenticator. */
  verify(token: string, context: CallContext): Promise<VerifiedToken | undefined> | VerifiedToken | undefined;
}

export class AccessTokenAuthenticator implements TokenAuthenticator {
  readonly name = ACCESS_TOKEN;
  readonly #verifier: TokenVerifier;
  /** Users by claims. Each claims object has one user object, so that authorization decisions can be cached by user. */
  readonly #users = new WeakMap<VerifiedToken, UserInfo>();

  constructor(verifier: TokenVerifier) {
    this.#verifier = verifier;
  }

  authenticate(token: BearerToken, context: CallContext): Identification {
    const claims = this.#verifier.verify(token.text, context);
    if (claims instanceof Promise) return claims.then((found) => found && this.#userOf(found));
    return claims && this.#userOf(claims);
  }

  #userOf(claims: VerifiedToken): UserInfo {
    let user = this.#users.get(claims);
    if (!user) {
      user = userOf(claims);
      this.#users.set(claims, user);
    }
    return user;
  }
}

function userOf({ sub, uid, groups, jti }: VerifiedToken): UserInfo {
  const { username, groups: mapped } = CLAIM_MAPPING;
  return {
    name: `${username.prefix}${sub}`,
    uid,
    groups: groups.map((group) => `${mapped.prefix}${group}`),
    extra: { [CREDENTIAL_ID]: [credentialID(jti)] },
  };
}
