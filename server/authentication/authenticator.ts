import type { IncomingMessage } from 'node:http';
import type { UserInfo } from './user.ts';

export interface AuthenticationRequest {
  readonly request: IncomingMessage;
  /** False on the plain-HTTP listener: front-proxy headers and client certificates count for nothing there. */
  readonly secure: boolean;
  readonly signal: AbortSignal;
}

/**
 * The caller; undefined where there is none of the kind that is looked for. At once when nothing has to be waited for:
 * this is done for every request, and a promise takes longer than most answers.
 */
export type Identification = Promise<UserInfo | undefined> | UserInfo | undefined;

/** One way of identifying the caller. */
export interface Authenticator {
  readonly name: string;
  /**
   * The caller, or undefined when the request bears no credentials of this kind.
   * Throws `newUnauthorized(cause)` for bad ones, `newServiceUnavailable` when they cannot be checked now.
   */
  authenticate(request: AuthenticationRequest): Identification;
}

/**
 * The refusal of somebody who was recognised: a front proxy has vouched for who it is, but the session is over, or the
 * name cannot be read. It ends the search, since the credentials that are left are those of the proxy, not of the
 * caller. `cause` is the answer.
 */
export class CallerRejected extends Error {
  override readonly name = 'CallerRejected';

  constructor(cause: unknown) {
    super('the caller was recognised and is refused', { cause });
  }
}
