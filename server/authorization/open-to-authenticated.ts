import { ALL_AUTHENTICATED } from '../authentication/user.ts';
import type { Authorizer, Decision, ResourceAttributes } from './authorizer.ts';

const OPEN: Decision = { allowed: true, reason: 'open to every authenticated caller' };

/**
 * Allows every authenticated caller the requests that `isOpen` selects, for resources whose handler restricts the
 * response to the caller's permissions. Anonymous callers need the permission.
 */
export function openToAuthenticated(
  authorizer: Authorizer,
  isOpen: (attributes: ResourceAttributes) => boolean,
): Authorizer {
  return {
    authorize(attributes, context) {
      const { groups } = attributes.user;
      if ('resource' in attributes && groups.includes(ALL_AUTHENTICATED) && isOpen(attributes)) return OPEN;
      return authorizer.authorize(attributes, context);
    },
  };
}
