// Callers whose token did not reach us, held against the session of that token. Whether a session still lasts is decided
// in oauth/tokens.
import { CLAIM_MAPPING, CREDENTIAL_ID, jtiOf } from '../../apis/oauth/claim-mapping.ts';
import type { CallContext } from '../cluster/call-context.ts';
import { type Authenticator, CallerRejected, type Identification } from './authenticator.ts';
import type { TokenAuthenticator } from './bearer-token.ts';
import type { UserInfo } from './user.ts';

/** Checks a token of ours by its id, when the token itself did not reach us. */
export interface TokenIDChecker {
  /**
   * Returns for the id of a token that is valid or not ours. Throws `newUnauthorized(cause)` when its session is over or
   * belongs to another user, `newServiceUnavailable` when that cannot be decided now.
   */
  check(
    jti: string,
    user: { readonly name: string; readonly uid: string },
    context: CallContext,
  ): Promise<void> | void;
}

/**
 * kube-apiserver does not learn that one of our tokens was revoked, but the aggregator passes the token's id on to us, so
 * that at least here whoever has signed out stays out. `inner` takes over identities that others vouch for: the front
 * proxy.
 */
export function sessionCheckedAuthentication(inner: Authenticator, tokens: TokenIDChecker): Authenticator {
  const checkedOrRefused = (user: UserInfo, context: CallContext): Promise<UserInfo> | UserInfo => {
    try {
      const checking = checked(user, tokens, context);
      return checking instanceof Promise ? checking.catch(refuse) : checking;
    } catch (error) {
      return refuse(error);
    }
  };
  return {
    name: inner.name,
    authenticate: (request) =>
      whenFound(inner.authenticate(request), (user) => checkedOrRefused(user, request)),
  };
}

/**
 * The same for bearer tokens that the cluster has reviewed. Ours never need a review; but should kube-apiserver accept one
 * that we did not recognise, its answer must not undo a revocation.
 */
export function sessionCheckedTokens(inner: TokenAuthenticator, tokens: TokenIDChecker): TokenAuthenticator {
  return {
    name: inner.name,
    authenticate: (token, context) =>
      whenFound(inner.authenticate(token, context), (user) => checked(user, tokens, context)),
  };
}

/** Whether the token of ours that a caller came with would still let him in; callers without one always pass. */
export function sessionCheck(
  tokens: TokenIDChecker,
): (user: UserInfo, context: CallContext) => Promise<void> | void {
  return (user, context) => {
    const checking = checked(user, tokens, context);
    return checking instanceof Promise ? checking.then(() => undefined) : undefined;
  };
}

function refuse(cause: unknown): never {
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
