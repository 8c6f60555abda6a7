// Interfaces of authenticators: Authenticator for requests, and TokenAuthenticator for one type of bearer token.
import type { IncomingMessage } from 'node:http';
import type { CallContext } from '../cluster/call-context.ts';
import type { UserInfo } from './user.ts';

export interface AuthenticationRequest extends CallContext {
  readonly request: IncomingMessage;
  /** False on the plain-HTTP listener, which ignores front-proxy headers and client certificates. */
  readonly secure: boolean;
  /** Set for a request that switches the protocol. */
  readonly upgrade?: object | undefined;
  /**
   * Set by the authenticator of a client certificate or of bearer tokens when it identifies the caller. The gateway forwards
   * this credential, and never a header of the client.
   */
  credential?: Credential | undefined;
}

/** The credential that identifies the caller of a request. */
export type Credential =
  | { readonly kind: 'certificate' }
  /** `authenticator`: the name of the TokenAuthenticator that accepts the token. */
  | { readonly kind: 'token'; readonly text: string; readonly authenticator: string };

/**
 * The result of an authenticator: the user, or undefined without credentials of its kind. Synchronous where possible, because a
 * promise for every request would take longer than most responses.
 */
export type Identification = Promise<UserInfo | undefined> | UserInfo | undefined;

/** One authentication method. */
export interface Authenticator {
  readonly name: string;
  /**
   * Returns the user, or undefined without credentials of this kind. Throws `newUnauthorized(cause)` for invalid credentials, and
   * `newServiceUnavailable` if the credentials cannot be checked now.
   */
  authenticate(request: AuthenticationRequest): Identification;
}

/** An authenticator without a promise, because its credential needs no request to the cluster. */
export interface ImmediateAuthenticator extends Authenticator {
  authenticate(request: AuthenticationRequest): UserInfo | undefined;
}

/**
 * A rejection that ends the chain: of a caller behind the front proxy whose session has ended or whose user name is not UTF-8, because
 * the remaining credentials belong to the proxy, and of a credential beside a client certificate that is not understood. `cause` is
 * the error for the client.
 */
export class CallerRejected extends Error {
  override readonly name = 'CallerRejected';

  constructor(cause: unknown) {
    super('the caller was recognised and rejected', { cause });
  }
}

/**
 * A bearer token. All requests of a connection with the same token share the object, so that an authenticator can compute the cache
 * key of a token once per connection.
 */
export interface BearerToken {
  readonly text: string;
}

/** An authenticator of one kind of bearer token: our own access tokens, or tokens for a TokenReview. */
export interface TokenAuthenticator {
  readonly name: string;
  /**
   * Returns undefined for a token of another kind; a token never changes its kind. Throws `newUnauthorized(cause)` for
   * an invalid token of this kind, and `newServiceUnavailable` if the token cannot be checked now.
   */
  authenticate(token: BearerToken, context: AuthenticationRequest): Identification;
}
