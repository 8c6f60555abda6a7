import { CLAIM_MAPPING, CREDENTIAL_ID, jtiOf } from '../../apis/oauth/claim-mapping.ts';
import { type AuthenticationRequest, type Authenticator, CallerRefused } from './authenticator.ts';
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
    scope: Scope,
  ): Promise<void> | void;
}

interface Scope {
  readonly signal: AbortSignal;
}

/**
 * kube-apiserver does not learn that one of our tokens was revoked, but the aggregator passes the token's id on to us, so
 * that at least here whoever has signed out stays out.
 */
export class CredentialCheckingAuthenticator implements Authenticator {
  readonly name: string;
  readonly #inner: Authenticator;
  readonly #tokens: TokenIDChecker;

  /** `inner` takes over identities that others vouch for: the front proxy. */
  constructor(inner: Authenticator, tokens: TokenIDChecker) {
    this.name = inner.name;
    this.#inner = inner;
    this.#tokens = tokens;
  }

  authenticate(request: AuthenticationRequest): Found {
    const user = this.#inner.authenticate(request);
    if (user instanceof Promise) return user.then((found) => found && this.#checked(found, request));
    return user && this.#checked(user, request);
  }

  #checked(user: UserInfo, scope: Scope): Promise<UserInfo> | UserInfo {
    try {
      const checking = checked(user, this.#tokens, scope);
      return checking instanceof Promise ? checking.catch(refuse) : checking;
    } catch (error) {
      return refuse(error);
    }
  }
}

function refuse(cause: unknown): never {
  throw new CallerRefused(cause);
}

/**
 * The same for bearer tokens that the cluster has reviewed. Ours never need a review; but should kube-apiserver accept one
 * that we did not recognise, its answer must not undo a revocation.
 */
export class CredentialCheckingTokenAuthenticator implements TokenAuthenticator {
  readonly name: string;
  readonly #inner: TokenAuthenticator;
  readonly #tokens: TokenIDChecker;

  constructor(inner: TokenAuthenticator, tokens: TokenIDChecker) {
    this.name = inner.name;
    this.#inner = inner;
    this.#tokens = tokens;
  }

  authenticate(token: string, scope: Scope): Found {
    return foundAndChecked(this.#inner.authenticate(token, scope), this.#tokens, scope);
  }
}

/** Whether the token of ours that a caller came with would still let him in; callers without one always pass. */
export function sessionCheck(tokens: TokenIDChecker): (user: UserInfo, scope: Scope) => Promise<void> | void {
  return (user, scope) => {
    const checking = checked(user, tokens, scope);
    return checking instanceof Promise ? checking.then(() => undefined) : undefined;
  };
}

type Found = Promise<UserInfo | undefined> | UserInfo | undefined;

function foundAndChecked(user: Found, tokens: TokenIDChecker, scope: Scope): Found {
  if (user instanceof Promise) return user.then((found) => found && checked(found, tokens, scope));
  return user && checked(user, tokens, scope);
}

function checked(user: UserInfo, tokens: TokenIDChecker, scope: Scope): Promise<UserInfo> | UserInfo {
  const prefix = CLAIM_MAPPING.username.prefix;
  const pending: Promise<void>[] = [];
  for (const credential of user.extra[CREDENTIAL_ID] ?? []) {
    const jti = jtiOf(credential);
    if (jti === undefined) continue;
    const name = user.name.startsWith(prefix) ? user.name.slice(prefix.length) : '';
    const checking = tokens.check(jti, { name, uid: user.uid }, scope);
    if (checking) pending.push(checking);
  }
  return pending.length === 0 ? user : Promise.all(pending).then(() => user);
}
