import { timingSafeEqual } from 'node:crypto';
import { newUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type { AuthenticationRequest, Authenticator, Identification } from './authenticator.ts';
import type { UserInfo } from './user.ts';

/** One kind of bearer token: our own access tokens, or tokens that the cluster reviews. */
export interface TokenAuthenticator {
  readonly name: string;
  /**
   * Returns undefined for a token of another kind, and always for the same token. Throws `newUnauthorized(cause)` for an
   * invalid token of this kind, `newServiceUnavailable` when the token cannot be checked now.
   */
  authenticate(token: string, context: CallContext): Identification;
}

// RFC 6750, 2.1: b64token.
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;
const MAX_TOKEN_LENGTH = 64 * 1024;

interface AcceptedToken {
  readonly token: Buffer;
  /** The index of the kind that accepted it. */
  readonly kind: number;
}

/**
 * Authenticates `Authorization: Bearer` by the first kind that recognises the token. Other schemes are ignored: clients of
 * the token endpoint use Basic. A malformed bearer token is rejected, never anonymous.
 */
export class BearerTokenAuthenticator implements Authenticator {
  readonly name = 'bearer';
  readonly #kinds: readonly TokenAuthenticator[];
  /** The last accepted token of each connection: the kinds before its own need not parse it again. */
  readonly #accepted = new WeakMap<object, AcceptedToken>();

  constructor(kinds: readonly TokenAuthenticator[]) {
    this.#kinds = kinds;
  }

  authenticate(context: AuthenticationRequest): Promise<UserInfo> | UserInfo | undefined {
    const header = context.request.headers.authorization;
    if (header === undefined || !/^bearer(?: |$)/i.test(header)) return undefined;
    const token = header.length > MAX_TOKEN_LENGTH ? undefined : BEARER.exec(header)?.[1];
    if (token === undefined) throw newUnauthorized(new Error('malformed bearer token'));
    return this.#authenticate(token, context, this.#knownKind(token, context));
  }

  #authenticate(token: string, context: AuthenticationRequest, start: number): Promise<UserInfo> | UserInfo {
    for (let kind = start; kind < this.#kinds.length; kind++) {
      const user = this.#kinds[kind]?.authenticate(token, context);
      if (user instanceof Promise) {
        return user.then((found) => {
          if (found) this.#remember(token, context, kind);
          return found ?? this.#authenticate(token, context, kind + 1);
        });
      }
      if (user) {
        if (kind > start) this.#remember(token, context, kind);
        return user;
      }
    }
    throw newUnauthorized(new Error('no authenticator recognises the bearer token'));
  }

  #knownKind(token: string, { request: { socket } }: AuthenticationRequest): number {
    const accepted = this.#accepted.get(socket);
    if (!accepted || accepted.token.length !== token.length) return 0;
    return timingSafeEqual(accepted.token, Buffer.from(token, 'latin1')) ? accepted.kind : 0;
  }

  #remember(token: string, { request: { socket } }: AuthenticationRequest, kind: number): void {
    if (kind > 0) this.#accepted.set(socket, { token: Buffer.from(token, 'latin1'), kind });
  }
}
