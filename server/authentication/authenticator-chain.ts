// Who the caller is: asks each authenticator in turn and takes the first answer. What callers may do is decided in
// authorization/.
import { isUnauthorized, newUnauthorized } from '../../apis/meta/v1/errors.ts';
import {
  type AuthenticationRequest,
  type Authenticator,
  CallerRejected,
  type Identification,
} from './authenticator.ts';
import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS, type UserInfo } from './user.ts';

/**
 * Bad credentials of one kind do not spoil good ones of another (a browser may send a certificate that nobody asked
 * it for), but they keep the caller from passing as anonymous.
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
    return this.#ask(request, 0, undefined);
  }

  #ask(request: AuthenticationRequest, start: number, refusal: unknown): Identification {
    let worst = refusal;
    for (let i = start; i < this.#authenticators.length; i++) {
      try {
        const user = this.#authenticators[i]?.authenticate(request);
        if (user instanceof Promise) {
          const before = worst;
          return user.then(
            (found) => (found ? this.#member(found) : this.#ask(request, i + 1, before)),
            (error: unknown) => this.#ask(request, i + 1, worse(before, notFinal(error))),
          );
        }
        if (user) return this.#member(user);
      } catch (error) {
        worst = worse(worst, notFinal(error));
      }
    }
    if (worst !== undefined) throw worst;
    return this.#anonymous ? ANONYMOUS : undefined;
  }

  /** Adds the group that every authenticated caller is in; the same object for the same user, so caches can key by it. */
  #member(user: UserInfo): UserInfo {
    let member = this.#members.get(user);
    if (!member) {
      member = needsGroup(user) ? { ...user, groups: [...user.groups, ALL_AUTHENTICATED] } : user;
      this.#members.set(user, member);
    }
    return member;
  }
}

/** A front proxy also passes on callers whom it could not authenticate; they stay unauthenticated. */
function needsGroup({ name, groups }: UserInfo): boolean {
  return (
    name !== ANONYMOUS.name && !groups.includes(ALL_AUTHENTICATED) && !groups.includes(ALL_UNAUTHENTICATED)
  );
}

/** Throws what ends the search. */
function notFinal(error: unknown): unknown {
  if (error instanceof CallerRejected) throw error.cause;
  return error;
}

/** "Ask again" outweighs "no": credentials that could not be checked may be good ones. */
function worse(before: unknown, error: unknown): unknown {
  if (before === undefined) return error;
  if (!isUnauthorized(before)) return before;
  return isUnauthorized(error) ? newUnauthorized(joined(before, error)) : error;
}

function joined(...errors: readonly unknown[]): Error {
  const causes = errors.map((error) =>
    error instanceof Error && error.cause instanceof Error ? error.cause : error,
  );
  const told = causes.map((cause) => {
    if (!(cause instanceof Error)) return String(cause);
    return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message;
  });
  return new Error(told.join('; '));
}
