import { isUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { AuthenticationResult } from '../observability/access-metrics.ts';
import type { AuthenticationRequest, Authenticator, Identification } from './authenticator.ts';
import type { UserInfo } from './user.ts';

/** Hears how each attempt ended. */
export interface AuthenticationCounter {
  authenticated(result: AuthenticationResult): void;
}

/** The same authenticator, with each of its attempts counted. A caller without credentials who must have some is refused. */
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
