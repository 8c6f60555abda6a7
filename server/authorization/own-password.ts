// Wrapper of an authorizer that allows users to change their own password.
import { ALL_AUTHENTICATED } from '../authentication/user.ts';
import type { Authorizer, Decision } from './authorizer.ts';

const OWN: Decision = { allowed: true, reason: 'users can change their own password' };

/**
 * An authorizer that allows users to change their own password, which RBAC cannot express. The handler requires the
 * current password. `group`: the API group of users.
 */
export function allowOwnPassword(authorizer: Authorizer, group: string): Authorizer {
  return {
    authorize(attributes, context) {
      if (
        'resource' in attributes &&
        attributes.group === group &&
        attributes.resource === 'users' &&
        attributes.subresource === 'password' &&
        attributes.verb === 'update' &&
        attributes.name !== '' &&
        attributes.name === attributes.user.name &&
        // Excludes anonymous requests, which have a user name too.
        attributes.user.groups.includes(ALL_AUTHENTICATED)
      ) {
        return OWN;
      }
      return authorizer.authorize(attributes, context);
    },
  };
}
