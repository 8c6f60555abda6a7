// Wrapper of an authorizer that allows some requests to every authenticated caller.
import { ALL_AUTHENTICATED } from '../authentication/user.ts';
import type { Authorizer, Decision, ResourceAttributes } from './authorizer.ts';

const OPEN: Decision = { allowed: true, reason: 'open to every authenticated caller' };

/**
 * An authorizer that allows all authenticated callers the requests for which `isOpen` is true. The handlers of these
 * requests restrict the response to the permissions of the caller. Anonymous callers need the permission in RBAC.
 */
export function openToAuthenticated(
  authorizer: Authorizer,
  isOpen: (attributes: ResourceAttributes) => boolean,
): Authorizer {
  return {
    authorize(attributes, context) {
      const { groups } = attributes.user;
      if ('resource' in attributes && isOpen(attributes) && groups.includes(ALL_AUTHENTICATED)) return OPEN;
      return authorizer.authorize(attributes, context);
    },
  };
}
