// AuthenticatorChain: tries the authenticators of a request in order. BearerTokenAuthenticator
// passes a bearer token to its TokenAuthenticators in order.
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isUnauthorized, newUnauthorized } from '../../apis/meta/v1/errors.ts';
import { ownBytes } from '../memory/own-bytes.ts';
import type { AuthenticationResult } from '../observability/access-metrics.ts';
import {
  type AuthenticationRequest,
  type Authenticator,
  type BearerToken,
  CallerRejected,
  type Identification,
  type TokenAuthenticator,
} from './authenticator.ts';
import { bearerToken } from './bearer-token.ts';
import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS, type UserInfo } from './user.ts';

/**
 * Tries the authenticators in order. Invalid credentials of one kind do not affect valid credentials of another kind, because a
 * browser may send an unrelated client certificate. Invalid credentials without valid ones are rejected, never anonymous.
 */
export class AuthenticatorChain implements Authenticator {
  readonly name = 'chain';
  readonly #authenticators: readonly Authenticator[];
  readonly #anonymous: boolean;
  readonly #members = new WeakMap<UserInfo, UserInfo>();

  constructor(authenticators: readonly Authenticator[], options: { readonly anonymous: boolean }) {
    this.#authenticators = authenticators;
    this.#anonymous = options.anonymous;
  }

  authenticate(request: AuthenticationRequest): Identification {
    return this.#authenticate(request, 0, undefined);
  }

  #authenticate(request: AuthenticationRequest, start: number, failure: unknown): Identification {
    let worst = failure;
    for (let i = start; i < this.#authenticators.length; i++) {
      try {
        const user = this.#authenticators[i]?.authenticate(request);
        if (user instanceof Promise) {
          const before = worst;
          return user.then(
            (found) => (found ? this.#member(found) : this.#authenticate(request, i + 1, before)),
            (error: unknown) => {
              request.credential = undefined;
              return this.#authenticate(request, i + 1, worse(before, unlessFinal(error)));
            },
          );
        }
        if (user) return this.#member(user);
      } catch (error) {
        request.credential = undefined;
        worst = worse(worst, unlessFinal(error));
      }
    }
    if (worst !== undefined) throw worst;
    return this.#anonymous ? ANONYMOUS : undefined;
  }

  /** Adds `system:authenticated`. Returns the same object for the same user, so that caches can use it as key. */
  #member(user: UserInfo): UserInfo {
    let member = this.#members.get(user);
    if (!member) {
      member = needsGroup(user) ? { ...user, groups: [...user.groups, ALL_AUTHENTICATED] } : user;
      this.#members.set(user, member);
    }
    return member;
  }
}

/** Returns false for anonymous callers that the front proxy forwards. They stay unauthenticated. */
function needsGroup({ name, groups }: UserInfo): boolean {
  return (
    name !== ANONYMOUS.name && !groups.includes(ALL_AUTHENTICATED) && !groups.includes(ALL_UNAUTHENTICATED)
  );
}

/** Throws the cause of a CallerRejected, which ends the chain. Returns other errors. */
function unlessFinal(error: unknown): unknown {
  if (error instanceof CallerRejected) throw error.cause;
  return error;
}

/** Returns the error to report. Other errors take precedence over Unauthorized, because unchecked credentials may be valid. */
function worse(before: unknown, error: unknown): unknown {
  if (before === undefined) return error;
  if (!isUnauthorized(before)) return before;
  return isUnauthorized(error) ? newUnauthorized(joined(before, error)) : error;
}

function joined(...errors: readonly unknown[]): Error {
  const causes = errors.map((error) =>
    error instanceof Error && error.cause instanceof Error ? error.cause : error,
  );
  const messages = causes.map((cause) => {
    if (!(cause instanceof Error)) return String(cause);
    return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message;
  });
  return new Error(messages.join('; '));
}

interface AuthenticationCounter {
  authenticated(result: AuthenticationResult): void;
}

/** Wraps an authenticator to count its results. A request without a user (anonymous access is disabled) counts as failure. */
export function countedAuthentication(inner: Authenticator, counter: AuthenticationCounter): Authenticator {
  const found = (user: UserInfo | undefined): UserInfo | undefined => {
    counter.authenticated(user ? 'success' : 'failure');
    return user;
  };
  const failed = (error: unknown): never => {
    counter.authenticated(isUnauthorized(error) ? 'failure' : 'error');
    throw error;
  };
  return {
    name: inner.name,
    authenticate: (request: AuthenticationRequest) => {
      let user: Identification;
      try {
        user = inner.authenticate(request);
      } catch (error) {
        return failed(error);
      }
      return user instanceof Promise ? user.then(found, failed) : found(user);
    },
  };
}

interface AcceptedToken {
  readonly token: BearerToken;
  /** The whole Authorization header with the token. */
  readonly header: Buffer;
  /** Index of the TokenAuthenticator that accepted the token. */
  readonly kind: number;
}

/** Authenticates a bearer token with the first TokenAuthenticator that recognises it. */
export class BearerTokenAuthenticator implements Authenticator {
  readonly name = 'bearer';
  readonly #kinds: readonly TokenAuthenticator[];
  readonly #isOfClient: (request: IncomingMessage) => boolean;
  /**
   * The last accepted token of each connection, to parse and hash it only once, and to skip the TokenAuthenticators that do not
   * recognise it. It is still validated for each request.
   */
  readonly #accepted = new WeakMap<object, AcceptedToken>();

  /** `isOfClient`: returns true for a request whose handler authenticates an OAuth client with another scheme (RFC 6749, 2.3.1). */
  constructor(
    kinds: readonly TokenAuthenticator[],
    isOfClient: (request: IncomingMessage) => boolean = () => false,
  ) {
    this.#kinds = kinds;
    this.#isOfClient = isOfClient;
  }

  authenticate(context: AuthenticationRequest): Promise<UserInfo> | UserInfo | undefined {
    const { request } = context;
    const { authorization, 'sec-websocket-protocol': protocols } = request.headers;
    if (authorization === undefined) {
      if (protocols === undefined) return undefined;
    } else {
      const accepted = protocols === undefined ? this.#accepted.get(request.socket) : undefined;
      if (accepted && isEqual(accepted.header, authorization)) {
        return this.#authenticate(accepted.token, context, accepted.kind);
      }
      if (!/^bearer/i.test(authorization) && this.#isOfClient(request)) return undefined;
    }
    const text = bearerToken(context);
    return text === undefined ? undefined : this.#authenticate({ text }, context, 0);
  }

  #authenticate(
    token: BearerToken,
    context: AuthenticationRequest,
    start: number,
  ): Promise<UserInfo> | UserInfo {
    for (let kind = start; kind < this.#kinds.length; kind++) {
      const user = this.#kinds[kind]?.authenticate(token, context);
      if (user instanceof Promise) {
        return user.then((found) => {
          if (!found) return this.#authenticate(token, context, kind + 1);
          this.#accept(token, context, kind);
          return found;
        });
      }
      if (user) {
        this.#accept(token, context, kind);
        return user;
      }
    }
    throw newUnauthorized(new Error('no authenticator recognises the bearer token'));
  }

  #accept(token: BearerToken, context: AuthenticationRequest, kind: number): void {
    const { headers, socket } = context.request;
    context.credential = {
      kind: 'token',
      text: token.text,
      authenticator: this.#kinds[kind]?.name ?? '',
    };
    if (headers.authorization === undefined || this.#accepted.get(socket)?.token === token) return;
    const header = ownBytes(Buffer.from(headers.authorization, 'latin1'));
    this.#accepted.set(socket, { token, header, kind });
  }
}

/** Compares in constant time, because several clients of a proxy may share the connection. */
function isEqual(header: Buffer, other: string): boolean {
  return header.length === other.length && timingSafeEqual(header, Buffer.from(other, 'latin1'));
}
