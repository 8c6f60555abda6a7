// Kinds that no list contains by default: their objects are credentials, permissions, or objects of this server.
import { exactName, type Kind } from '../kind.ts';

/** Says where to find the objects of a restricted kind. */
export function restrictedReason(kind: Kind, domain: string): string {
  const name = exactName(kind);
  const { group, version, plural } = kind;
  if (group === `resources.${domain}`) return `${name} are those of the core group: use ${plural}`;
  if (group === `iam.${domain}`) {
    const path = `${plural === 'users' ? '/kapis' : '/apis'}/${group}/${version}/${plural}`;
    return `${name} are restricted: use ${path}`;
  }
  return `${name} are restricted: to serve them, name them in resources.restricted of the configuration`;
}

/** Restricted kinds: they contain credentials, or show the permissions of users. */
function isRestricted({ group, plural }: Kind): boolean {
  return (group === '' && plural === 'secrets') || group === 'rbac.authorization.k8s.io';
}

/**
 * The groups of this server are excluded: their nodes are those of the core group, and users have an API of their own
 * that hides their credentials.
 */
export function isServed(kind: Kind, domain: string, allowed: readonly string[]): boolean {
  if (kind.group === `resources.${domain}` || kind.group === `iam.${domain}`) return false;
  return !isRestricted(kind) || allowed.includes(exactName(kind));
}
