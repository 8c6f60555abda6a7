// Creates the users API: the REST handler, the authorizer for password changes, and the creator of the first
// administrator.
import type { Logger } from 'pino';
import { groupName, VERSION } from '../../apis/iam/v1beta1/group-version.ts';
import { USER } from '../../apis/iam/v1beta1/user-resource.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { allowOwnPassword } from '../authorization/own-password.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import type { CompletedConfig } from '../config/config.ts';
import type { OAuth } from '../oauth/oauth.ts';
import { FirstAdministrator } from '../oauth/users/first-administrator.ts';
import type { ResourceRoute } from '../request/resource-route.ts';
import { SUBRESOURCES, usersHandler } from './users-handler.ts';

export interface UsersAPI {
  readonly routes: readonly ResourceRoute[];
  /** For the filter chain: the given authorizer, which also allows changes of one's own password. */
  readonly authorizer: Authorizer;
  /** Runs until the first administrator exists or `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void>;
}

export interface UsersAPIDependencies {
  readonly client: ClusterClient;
  readonly authorizer: Authorizer;
  readonly oauth: Pick<
    OAuth,
    'users' | 'credentials' | 'factors' | 'groupGrants' | 'sessions' | 'hasher' | 'signIn' | 'sourceOf'
  >;
  readonly log: Logger;
}

export function newUsersAPI(
  { platform }: Pick<CompletedConfig, 'platform'>,
  { client, authorizer, oauth, log }: UsersAPIDependencies,
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
  const administrator = new FirstAdministrator({
    client,
    platform: platform.name,
    namespace: platform.namespace,
    users,
    credentials,
    hasher,
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
    run: (signal) => administrator.run(signal),
  };
}
