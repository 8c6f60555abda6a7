import { ALL_AUTHENTICATED } from '../authentication/user.ts';
import type { Authorizer, Decision, ResourceAttributes } from './authorizer.ts';

const OPEN: Decision = { allowed: true, reason: 'open to every authenticated caller' };

/**
 * Lets every authenticated caller ask for what `isOpen` names: for resources whose handler decides itself what the
 * caller gets to see. Anonymous callers need the right, as anywhere.
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
