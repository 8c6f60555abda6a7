import type { IncomingMessage } from 'node:http';
import type { UserInfo } from './user.ts';

export interface AuthenticationRequest {
  readonly request: IncomingMessage;
  /** False on the plain-HTTP listener: front-proxy headers and client certificates count for nothing there. */
  readonly secure: boolean;
  readonly signal: AbortSignal;
}

/** One way to learn who the caller is. */
export interface Authenticator {
  readonly name: string;
  /**
   * The caller, or undefined when the request bears no credentials of this kind.
   * Throws `newUnauthorized(cause)` when it bears bad ones, `newServiceUnavailable` when it can not tell now.
   */
  authenticate(request: AuthenticationRequest): Promise<UserInfo | undefined> | UserInfo | undefined;
}
