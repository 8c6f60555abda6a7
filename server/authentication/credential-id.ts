import { CLAIM_MAPPING, CREDENTIAL_ID, jtiOf } from '../../apis/oauth/claim-mapping.ts';
import type { AuthenticationRequest, Authenticator } from './authenticator.ts';
import type { UserInfo } from './user.ts';

/** A token of ours by its id, when the token itself did not reach us. */
export interface KnowsTokenIDs {
  /**
   * Nothing for the id of a token that counts, or that is not ours. Throws `newUnauthorized(cause)` when its session
   * is over or belongs to another user, `newServiceUnavailable` when that can not be told now.
   */
  check(
    jti: string,
    user: { readonly name: string; readonly uid: string },
    scope: { readonly signal: AbortSignal },
  ): Promise<void> | void;
}

/**
 * kube-apiserver never hears that a token of ours was revoked, but the aggregator hands its id on to us: so at least
 * here whoever has signed out stays out.
 */
export class CredentialCheckingAuthenticator implements Authenticator {
  readonly name: string;
  readonly #inner: Authenticator;
  readonly #tokens: KnowsTokenIDs;

  /** `inner`: whoever hands identities on, the front proxy. */
  constructor(inner: Authenticator, tokens: KnowsTokenIDs) {
    this.name = inner.name;
    this.#inner = inner;
    this.#tokens = tokens;
  }

  authenticate(request: AuthenticationRequest): Promise<UserInfo | undefined> | UserInfo | undefined {
    const user = this.#inner.authenticate(request);
    if (user instanceof Promise) return user.then((found) => found && this.#checked(found, request));
    return user && this.#checked(user, request);
  }

  #checked(user: UserInfo, scope: AuthenticationRequest): Promise<UserInfo> | UserInfo {
    const prefix = CLAIM_MAPPING.username.prefix;
    const pending: Promise<void>[] = [];
    for (const credential of user.extra[CREDENTIAL_ID] ?? []) {
      const jti = jtiOf(credential);
      if (jti === undefined) continue;
      const name = user.name.startsWith(prefix) ? user.name.slice(prefix.length) : '';
      const checking = this.#tokens.check(jti, { name, uid: user.uid }, scope);
      if (checking) pending.push(checking);
    }
    return pending.length === 0 ? user : Promise.all(pending).then(() => user);
  }
}
