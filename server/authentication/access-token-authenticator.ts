// Authenticators of access tokens and ID tokens that this server has issued. The modules in oauth/tokens validate the
// tokens.
import type { IncomingMessage } from 'node:http';
import { newUnauthorized } from '../../apis/meta/v1/errors.ts';
import {
  CLAIM_MAPPING,
  CREDENTIAL_ID,
  credentialID,
  ID_TOKEN_REJECTED,
} from '../../apis/oauth/claim-mapping.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type {
  AuthenticationRequest,
  BearerToken,
  Credential,
  Identification,
  TokenAuthenticator,
} from './authenticator.ts';
import type { UserInfo } from './user.ts';

/** The names of the authenticators, by which a credential shows that this server has issued the token. */
const ACCESS_TOKEN = 'access-token';
export const ID_TOKEN = 'id-token';

/** Returns true for a token that this server has issued. */
export function isOwnToken(credential: Credential | undefined): boolean {
  return (
    credential?.kind === 'token' &&
    (credential.authenticator === ACCESS_TOKEN || credential.authenticator === ID_TOKEN)
  );
}

/** The claims of a valid token. */
interface VerifiedToken {
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

/** Authenticates ID tokens where kube-apiserver would, and rejects them everywhere else with a message that says so. */
export class IDTokenAuthenticator implements TokenAuthenticator {
  readonly name = ID_TOKEN;
  readonly #tokens: AccessTokenAuthenticator;
  readonly #isAccepted: (request: IncomingMessage) => boolean;

  /** `isAccepted`: returns true for a request in which an ID token is accepted. */
  constructor(verifier: TokenVerifier, isAccepted: (request: IncomingMessage) => boolean) {
    this.#tokens = new AccessTokenAuthenticator(verifier);
    this.#isAccepted = isAccepted;
  }

  authenticate(token: BearerToken, context: AuthenticationRequest): Identification {
    const user = this.#tokens.authenticate(token, context);
    return user instanceof Promise
      ? user.then((found) => this.#admitted(found, context))
      : this.#admitted(user, context);
  }

  #admitted(user: UserInfo | undefined, { request }: AuthenticationRequest): UserInfo | undefined {
    if (user && !this.#isAccepted(request)) {
      throw newUnauthorized(new Error('an ID token outside of the API of Kubernetes'), ID_TOKEN_REJECTED);
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
