// The authorizer of the server: decides about public paths and `system:masters` itself and delegates the rest to
// SubjectAccessReviews (access-review.ts).
import { SYSTEM_MASTERS } from '../authentication/user.ts';
import type { Authorizer, Decision } from './authorizer.ts';
import { isPublicPath } from './public-paths.ts';

const PUBLIC: Decision = { allowed: true, reason: '' };
const PRIVILEGED: Decision = { allowed: true, reason: '' };

const READS = new Set(['get', 'head', 'options']);

export function delegatingAuthorizer(
  cluster: Authorizer,
  /** Further public paths, for instance those of the sign-in, for all methods. */
  isAlwaysAllowed: (path: string) => boolean,
): Authorizer {
  return {
    authorize(attributes, context) {
      if (attributes.user.groups.includes(SYSTEM_MASTERS)) return PRIVILEGED;
      if ('path' in attributes) {
        if (READS.has(attributes.verb) && isPublicPath(attributes.path)) return PUBLIC;
        if (isAlwaysAllowed(attributes.path)) return PUBLIC;
      }
      return cluster.authorize(attributes, context);
    },
  };
}
