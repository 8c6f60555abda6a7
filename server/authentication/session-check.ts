// Checks the session of callers that kube-apiserver authenticates with access tokens of this server. kube-apiserver
// accepts an access token until expiry, even after the end of the session.
import { CLAIM_MAPPING, CREDENTIAL_ID, jtiOf } from '../../apis/oauth/claim-mapping.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type { TokenAuthenticator } from './authenticator.ts';
import { type Authenticator, CallerRejected, type Identification } from './authenticator.ts';
import type { UserInfo } from './user.ts';

/** Checks the session of an access token by the ID of the token (claim `jti`). */
export interface TokenIDChecker {
  /**
   * Returns for a valid session, and for an ID of another issuer. Throws `newUnauthorized(cause)` if the session has ended or belongs
   * to another user, and `newServiceUnavailable` if the state of the session is unknown.
   */
  check(
    jti: string,
    user: { readonly name: string; readonly uid: string },
    context: CallContext,
  ): Promise<void> | void;
}

/**
 * Wraps the front-proxy authenticator (`inner`) to reject callers whose session has ended. The aggregator forwards the ID of the token
 * as an extra of the user.
 */
export function sessionCheckedAuthentication(inner: Authenticator, tokens: TokenIDChecker): Authenticator {
  const checkedOrRejected = (user: UserInfo, context: CallContext): Promise<UserInfo> | UserInfo => {
    try {
      const checking = checked(user, tokens, context);
      return checking instanceof Promise ? checking.catch(reject) : checking;
    } catch (error) {
      return reject(error);
    }
  };
  return {
    name: inner.name,
    authenticate: (request) =>
      whenFound(inner.authenticate(request), (user) => checkedOrRejected(user, request)),
  };
}

/**
 * Wraps the TokenReview authenticator (`inner`) to reject tokens whose session has ended. Our own tokens usually need no TokenReview,
 * but kube-apiserver may accept one that this server did not recognise.
 */
export function sessionCheckedTokens(inner: TokenAuthenticator, tokens: TokenIDChecker): TokenAuthenticator {
  return {
    name: inner.name,
    authenticate: (token, context) =>
      whenFound(inner.authenticate(token, context), (user) => checked(user, tokens, context)),
  };
}

/**
 * Checks the session of a user. Returns for a valid session, and throws Unauthorized (StatusError) for an ended one. Any other error
 * means that the state of the session is unknown.
 */
export type SessionCheck = (user: UserInfo, context: CallContext) => Promise<void> | void;

/** Returns a check of the session of a user. Users without one of our tokens always pass. */
export function sessionCheck(tokens: TokenIDChecker): SessionCheck {
  return (user, context) => {
    const checking = checked(user, tokens, context);
    return checking instanceof Promise ? checking.then(() => undefined) : undefined;
  };
}

function reject(cause: unknown): never {
  throw new CallerRejected(cause);
}

function whenFound(
  found: Identification,
  check: (user: UserInfo) => Promise<UserInfo> | UserInfo,
): Identification {
  if (found instanceof Promise) return found.then((user) => user && check(user));
  return found && check(found);
}

function checked(user: UserInfo, tokens: TokenIDChecker, context: CallContext): Promise<UserInfo> | UserInfo {
  const prefix = CLAIM_MAPPING.username.prefix;
  const pending: Promise<void>[] = [];
  for (const credential of user.extra[CREDENTIAL_ID] ?? []) {
    const jti = jtiOf(credential);
    if (jti === undefined) continue;
    const name = user.name.startsWith(prefix) ? user.name.slice(prefix.length) : '';
    const checking = tokens.check(jti, { name, uid: user.uid }, context);
    if (checking) pending.push(checking);
  }
  return pending.length === 0 ? user : Promise.all(pending).then(() => user);
}
