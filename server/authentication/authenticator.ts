import type { IncomingMessage } from 'node:http';
import type { CallContext } from '../cluster/call-context.ts';
import type { UserInfo } from './user.ts';

export interface AuthenticationRequest {
  readonly request: IncomingMessage;
  /** False on the plain-HTTP listener, which ignores front-proxy headers and client certificates. */
  readonly secure: boolean;
  readonly signal: AbortSignal;
}

/**
 * The caller; undefined without credentials of the kind. Synchronous where possible, because a promise for every request
 * would cost more than most responses.
 */
export type Identification = Promise<UserInfo | undefined> | UserInfo | undefined;

/** One authentication method. */
export interface Authenticator {
  readonly name: string;
  /**
   * Returns the caller, or undefined without credentials of this kind. Throws `newUnauthorized(cause)` for invalid ones,
   * `newServiceUnavailable` when they cannot be checked now.
   */
  authenticate(request: AuthenticationRequest): Identification;
}

/**
 * Rejects a recognised caller: the front proxy names the caller, but the session has ended, or the name is not readable. It
 * ends the chain, because the remaining credentials are those of the proxy. `cause` is the error for the client.
 */
export class CallerRejected extends Error {
  override readonly name = 'CallerRejected';

  constructor(cause: unknown) {
    super('the caller was recognised and rejected', { cause });
  }
}

/** One kind of bearer token: our own access tokens, or tokens that the cluster reviews. */
export interface TokenAuthenticator {
  readonly name: string;
  /**
   * Returns undefined for a token of another kind, and always for the same token. Throws `newUnauthorized(cause)` for an
   * invalid token of this kind, `newServiceUnavailable` when the token cannot be checked now.
   */
  authenticate(token: string, context: CallContext): Identification;
}
