import { newUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { Authenticator } from '../authentication/authenticator.ts';
import type { UserInfo } from '../authentication/user.ts';
import type { Exchange, Filter } from './exchange.ts';

/** Headers that say who the caller is. Behind this filter nothing may read them, least of all a proxy. */
export type IdentityHeaders = () => readonly string[];

/**
 * Sets the caller. `identityHeaders` are the front proxy's names and prefixes as they are set just now, in lower
 * case; they and a bearer token that was accepted are taken off the request.
 */
export function authentication(authenticator: Authenticator, identityHeaders: IdentityHeaders): Filter {
  const accept = (exchange: Exchange, user: UserInfo | undefined): void => {
    // The last authenticator of the chain lets anonymous callers in; where it is turned off nobody is let in.
    if (!user) throw newUnauthorized(new Error('no credentials'));
    exchange.user = user;
    exchange.authenticated = true;
    strip(exchange, identityHeaders());
  };
  return (exchange) => {
    const user = authenticator.authenticate(exchange);
    if (user instanceof Promise) return user.then((found) => accept(exchange, found));
    return accept(exchange, user);
  };
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
