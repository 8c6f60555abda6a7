import { ALL_AUTHENTICATED } from '../authentication/user.ts';
import type { Authorizer, Decision } from './authorizer.ts';

const OWN: Decision = { allowed: true, reason: 'the password is the own one' };

/**
 * Lets everybody who is signed in change their own password, which no RBAC rule can say. The handler asks for the
 * current one. `group` is the API group of users.
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
        // Who is nobody has a name as well.
        attributes.user.groups.includes(ALL_AUTHENTICATED)
      ) {
        return OWN;
      }
      return authorizer.authorize(attributes, context);
    },
  };
}
