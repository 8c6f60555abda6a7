import { newServiceUnavailable, newUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { Authenticator } from '../authentication/authenticator.ts';
import type { UserInfo } from '../authentication/user.ts';
import { isPublicPath } from '../authorization/public-paths.ts';
import type { Exchange, Filter } from './exchange.ts';

/** Headers that say who the caller is. Behind this filter nothing may read them, least of all a proxy. */
export type IdentityHeaders = () => readonly string[];

/**
 * Paths where people come to sign in: without credentials they are asked for by nobody in particular, also while
 * anonymous callers are turned off. Bad credentials are refused there as anywhere.
 */
export type SignInPaths = (path: string) => boolean;

/** How long health and discovery wait for the cluster to say whose token it is, in ms. */
const OPEN_PATIENCE_MS = 1_000;

/**
 * Sets the caller. `identityHeaders` are the front proxy's names and prefixes as they are set just now, in lower
 * case; they and a bearer token that was accepted are taken off the request.
 */
export function authentication(
  authenticator: Authenticator,
  identityHeaders: IdentityHeaders,
  signInPaths: SignInPaths = () => false,
): Filter {
  const accept = (exchange: Exchange, user: UserInfo | undefined): void => {
    // Without a user anonymous callers are turned off.
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
    let user: Promise<UserInfo | undefined> | UserInfo | undefined;
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
 * Health and discovery say the same to everybody, so there a caller whose credentials fail passes as nobody. The
 * aggregator asks with the front proxy's headers whether we live: were the front proxy's settings missing or wrong,
 * a refusal would take our discovery out of the cluster, and with it the deletion of every namespace.
 */
function isOpenToAll({ info }: Exchange): boolean {
  return !info.isResourceRequest && (info.verb === 'get' || info.verb === 'head') && isPublicPath(info.path);
}

/** What says the same to everybody must not wait for a cluster that hangs. */
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
