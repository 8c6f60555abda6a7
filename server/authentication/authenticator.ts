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

/**
 * The refusal of somebody who was recognised: a front proxy has vouched for who it is, but the session is over, or the
 * name can not be read. It ends the search, since the credentials that are left are those of the proxy, not of the
 * caller. `cause` is the answer.
 */
export class CallerRefused extends Error {
  override readonly name = 'CallerRefused';

  constructor(cause: unknown) {
    super('the caller was recognised and is refused', { cause });
  }
}
