// Creates the users API: the REST handler, and the authorizer for password changes.
import type { Logger } from 'pino';
import { groupName, VERSION } from '../../apis/iam/v1beta1/group-version.ts';
import { USER } from '../../apis/iam/v1beta1/user-resource.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { allowOwnPassword } from '../authorization/own-password.ts';
import type { CompletedConfig } from '../config/config.ts';
import type { OAuth } from '../oauth/oauth.ts';
import type { ResourceRoute } from '../request/resource-route.ts';
import { SUBRESOURCES, usersHandler } from './users-handler.ts';

interface UsersAPI {
  readonly routes: readonly ResourceRoute[];
  /** For the filter chain: the given authorizer, which also allows changes of one's own password. */
  readonly authorizer: Authorizer;
}

interface UsersAPIDependencies {
  readonly authorizer: Authorizer;
  readonly oauth: Pick<
    OAuth,
    'users' | 'credentials' | 'factors' | 'groupGrants' | 'sessions' | 'hasher' | 'signIn' | 'sourceOf'
  >;
  readonly log: Logger;
}

export function newUsersAPI(
  { platform }: Pick<CompletedConfig, 'platform'>,
  { authorizer, oauth, log }: UsersAPIDependencies,
): UsersAPI {
  const { users, credentials, factors, groupGrants, sessions, hasher, signIn, sourceOf } = oauth;
  const group = groupName(platform.name);
  const handler = usersHandler({
    group,
    users,
    credentials,
    secondFactor: factors.secondFactor,
    groupGrants,
    sessions,
    hasher,
    passwords: signIn,
    sourceOf,
    authorizer,
    log,
  });
  return {
    routes: [
      {
        prefix: 'kapis',
        group,
        version: VERSION,
        resource: USER.plural,
        subresources: SUBRESOURCES,
        handler,
      },
    ],
    authorizer: allowOwnPassword(authorizer, group),
  };
}
