// Authorizer that allows public paths and the group `system:masters`. Every other request needs a SubjectAccessReview
// (access-review.ts).
import { SYSTEM_MASTERS } from '../authentication/user.ts';
import type { Authorizer, Decision } from './authorizer.ts';
import { isPublicPath } from './public-paths.ts';

const PUBLIC: Decision = { allowed: true, reason: '' };
const PRIVILEGED: Decision = { allowed: true, reason: '' };

const READS = new Set(['get', 'head', 'options']);

export function delegatingAuthorizer(
  cluster: Authorizer,
  /** Returns true for additional paths that are public for all methods, such as the sign-in pages. */
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
