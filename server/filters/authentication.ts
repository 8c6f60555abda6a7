// Authentication filter: sets the user of a request, or rejects the request.
import { newServiceUnavailable, newUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { Authenticator, Identification } from '../authentication/authenticator.ts';
import { ANONYMOUS, type UserInfo } from '../authentication/user.ts';
import { isPublicPath } from '../authorization/public-paths.ts';
import type { Exchange, Filter } from './exchange.ts';

/** Returns the names and prefixes of the front proxy's headers, in lower case. */
export type IdentityHeaders = () => readonly string[];

/**
 * Returns true for a path of sign-in. Its endpoints authenticate callers themselves, so that the caller is anonymous for the
 * filters, whatever credentials the request has, and even if anonymous access is disabled.
 */
export type SignInPaths = (path: string) => boolean;

/** Timeout of a TokenReview on public paths, in ms. */
const PUBLIC_TIMEOUT_MS = 1_000;

/**
 * Sets the user. `gatewayAuthenticator` authenticates the requests that the gateway forwards. Also removes the headers of the front
 * proxy and the bearer token from the request, so that later filters, handlers and proxies cannot use them.
 */
export function authentication(
  authenticator: Authenticator,
  identityHeaders: IdentityHeaders,
  signInPaths: SignInPaths,
  gatewayAuthenticator: Authenticator = authenticator,
): Filter {
  const accept = (exchange: Exchange, user: UserInfo | undefined): void => {
    // The request has no credentials, and anonymous access is disabled.
    if (!user) return reject(exchange, newUnauthorized(new Error('no credentials')));
    exchange.user = user;
    exchange.authenticated = true;
    strip(exchange, identityHeaders());
  };
  const reject = (exchange: Exchange, error: unknown): void => {
    if (!isPublic(exchange)) throw error;
    exchange.error = error;
    strip(exchange, identityHeaders());
  };
  return (exchange) => {
    if (!exchange.proxied && signInPaths(exchange.info.path)) return accept(exchange, ANONYMOUS);
    let user: Identification;
    try {
      user = (exchange.proxied ? gatewayAuthenticator : authenticator).authenticate(exchange);
    } catch (error) {
      return reject(exchange, error);
    }
    if (!(user instanceof Promise)) return accept(exchange, user);
    return (isPublic(exchange) ? withTimeout(user) : user).then(
      (found) => accept(exchange, found),
      (error: unknown) => reject(exchange, error),
    );
  };
}

/**
 * Returns true for health and discovery, which are the same for all callers, so that invalid credentials mean anonymous there. The
 * aggregator checks our discovery with the front proxy's headers. With missing or wrong front-proxy settings, a rejection would make
 * our APIs unavailable, which blocks the deletion of every namespace.
 */
function isPublic({ info, proxied }: Exchange): boolean {
  return (
    !proxied &&
    !info.isResourceRequest &&
    (info.verb === 'get' || info.verb === 'head') &&
    isPublicPath(info.path)
  );
}

/** Bounds the wait for a TokenReview, because public paths must not wait for an unresponsive cluster. */
function withTimeout(user: Promise<UserInfo | undefined>): Promise<UserInfo | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<UserInfo | undefined>();
  const timer = setTimeout(
    () => reject(newServiceUnavailable('the caller is not authenticated yet')),
    PUBLIC_TIMEOUT_MS,
  );
  user.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}

function strip({ request: { headers } }: Exchange, names: readonly string[]): void {
  const { authorization } = headers;
  // Not `delete`, after which V8 would read all other headers slowly.
  if (authorization !== undefined && /^bearer /i.test(authorization)) headers.authorization = undefined;
  for (const header in headers) {
    for (const name of names) {
      if (header.startsWith(name)) {
        delete headers[header];
        break;
      }
    }
  }
}
