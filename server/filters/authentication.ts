import { newServiceUnavailable, newUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { Authenticator, Identification } from '../authentication/authenticator.ts';
import type { UserInfo } from '../authentication/user.ts';
import { isPublicPath } from '../authorization/public-paths.ts';
import type { Exchange, Filter } from './exchange.ts';

/** Headers that say who the caller is. Behind this filter nothing may read them, least of all a proxy. */
export type IdentityHeaders = () => readonly string[];

/**
 * Paths where people sign in. They are open without credentials even while anonymous callers are turned off; bad
 * credentials are refused there as anywhere.
 */
export type SignInPaths = (path: string) => boolean;

/** How long health and discovery wait for a token review, in ms. */
const OPEN_PATIENCE_MS = 1_000;

/**
 * Sets the caller. `identityHeaders` gives the current header names and prefixes of the front proxy, in lower case; they
 * and a bearer token that was accepted are removed from the request.
 */
export function authentication(
  authenticator: Authenticator,
  identityHeaders: IdentityHeaders,
  signInPaths: SignInPaths = () => false,
): Filter {
  const accept = (exchange: Exchange, user: UserInfo | undefined): void => {
    // There is no user when anonymous callers are turned off.
    if (!user) {
      if (signInPaths(exchange.info.path)) return strip(exchange, identityHeaders());
      return refuse(exchange, newUnauthorized(new Error('no credentials')));
    }
    exchange.user = user;
    exchange.authenticated = true;
    strip(exchange, identityHeaders());
  };
  const refuse = (exchange: Exchange, error: unknown): void => {
    if (!isOpenToAll(exchange)) throw error;
    exchange.error = error;
    strip(exchange, identityHeaders());
  };
  return (exchange) => {
    let user: Identification;
    try {
      user = authenticator.authenticate(exchange);
    } catch (error) {
      return refuse(exchange, error);
    }
    if (!(user instanceof Promise)) return accept(exchange, user);
    return (isOpenToAll(exchange) ? soon(user) : user).then(
      (found) => accept(exchange, found),
      (error: unknown) => refuse(exchange, error),
    );
  };
}

/**
 * Health and discovery say the same to everybody, so a caller whose credentials fail is anonymous there. The aggregator
 * checks our health with the front proxy's headers: if those settings were missing or wrong, a refusal would take our
 * discovery out of the cluster, and block the deletion of every namespace.
 */
function isOpenToAll({ info }: Exchange): boolean {
  return !info.isResourceRequest && (info.verb === 'get' || info.verb === 'head') && isPublicPath(info.path);
}

/** Answers that are the same for everybody must not wait for a cluster that hangs. */
function soon(user: Promise<UserInfo | undefined>): Promise<UserInfo | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<UserInfo | undefined>();
  const timer = setTimeout(
    () => reject(newServiceUnavailable('the caller is not known yet')),
    OPEN_PATIENCE_MS,
  );
  user.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}

function strip({ request: { headers } }: Exchange, names: readonly string[]): void {
  const { authorization } = headers;
  if (authorization !== undefined && /^bearer /i.test(authorization)) delete headers.authorization;
  for (const header in headers) {
    for (const name of names) {
      if (header.startsWith(name)) {
        delete headers[header];
        break;
      }
    }
  }
}
