import { newUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type { AuthenticationRequest, Authenticator, Identification } from './authenticator.ts';
import type { UserInfo } from './user.ts';

/** One kind of bearer token, for instance our own, or those that the cluster reviews. */
export interface TokenAuthenticator {
  readonly name: string;
  /**
   * Undefined when the token is not of this kind: the next kind is asked then. Throws `newUnauthorized(cause)` for a bad
   * token of this kind, `newServiceUnavailable` when it cannot be checked now.
   */
  authenticate(token: string, context: CallContext): Identification;
}

// RFC 6750 section 2.1: b64token.
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;
const MAX_TOKEN = 64 * 1024;

/**
 * `Authorization: Bearer`, asked of each kind in order. Other schemes are not ours to judge (clients of the token
 * endpoint sign in with Basic); a Bearer that is no token is refused rather than taken for nobody.
 */
export class BearerTokenAuthenticator implements Authenticator {
  readonly name = 'bearer';
  readonly #kinds: readonly TokenAuthenticator[];

  constructor(kinds: readonly TokenAuthenticator[]) {
    this.#kinds = kinds;
  }

  authenticate(context: AuthenticationRequest): Promise<UserInfo> | UserInfo | undefined {
    const header = context.request.headers.authorization;
    if (header === undefined || !/^bearer(?: |$)/i.test(header)) return undefined;
    const token = header.length > MAX_TOKEN ? undefined : BEARER.exec(header)?.[1];
    if (token === undefined) throw newUnauthorized(new Error('malformed bearer token'));
    return this.#ask(token, context, 0);
  }

  #ask(token: string, context: AuthenticationRequest, start: number): Promise<UserInfo> | UserInfo {
    for (let i = start; i < this.#kinds.length; i++) {
      const user = this.#kinds[i]?.authenticate(token, context);
      if (user instanceof Promise) return user.then((found) => found ?? this.#ask(token, context, i + 1));
      if (user) return user;
    }
    throw newUnauthorized(new Error('a bearer token that nobody knows'));
  }
}
