import { CLAIM_MAPPING, CREDENTIAL_ID, jtiOf } from '../../apis/oauth/claim-mapping.ts';
import type { CallContext } from '../cluster/call-context.ts';
import {
  type AuthenticationRequest,
  type Authenticator,
  CallerRefused,
  type Identification,
} from './authenticator.ts';
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

  authenticate(request: AuthenticationRequest): Identification {
    const user = this.#inner.authenticate(request);
    if (user instanceof Promise) return user.then((found) => found && this.#checked(found, request));
    return user && this.#checked(user, request);
  }

  #checked(user: UserInfo, context: CallContext): Promise<UserInfo> | UserInfo {
    try {
      const checking = checked(user, this.#tokens, context);
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

  authenticate(token: string, context: CallContext): Identification {
    return foundAndChecked(this.#inner.authenticate(token, context), this.#tokens, context);
  }
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

function foundAndChecked(user: Identification, tokens: TokenIDChecker, context: CallContext): Identification {
  if (user instanceof Promise) return user.then((found) => found && checked(found, tokens, context));
  return user && checked(user, tokens, context);
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
