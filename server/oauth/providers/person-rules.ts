// Rules that turn what a provider says about a person into a user name and group names of this platform.
import { isUserName } from '../../../apis/iam/v1beta1/custom-resource.ts';
import { CHECK_USER } from '../tokens/token-issuer.ts';

export interface GroupRules {
  /** Names of groups that pass; `*` at the end stands for any rest. */
  readonly allow: readonly string[];
  readonly prefix: string;
}

/** More would not fit into a token. */
export const MAX_GROUPS = 100;
const MAX_GROUP_NAME = 128;
/** A colon would allow reserved groups, such as `system:masters`. */
const GROUP_NAME = /^[^\s:\p{Cc}](?:[^:\p{Cc}]*[^\s:\p{Cc}])?$/u;

/**
 * The user name of a person: ASCII in lower case, with `-` for every character that a name must not have. Undefined if no valid name
 * results. Other letters have no unique spelling, so nothing is guessed.
 */
export function userNameOf(name: string | undefined): string | undefined {
  if (name === undefined || !/^[\x20-\x7e]+$/.test(name)) return undefined;
  const labels = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .split('.');
  const derived = labels
    .map((label) => label.replaceAll(/^-|-$/g, ''))
    .filter((label) => label !== '')
    .join('.');
  return isUserName(derived) && derived !== CHECK_USER ? derived : undefined;
}

/**
 * The groups that pass, sorted. Undefined if there are too many: with only some of the groups, the person would get permissions by chance. `administrators`: a group that must be allowed by its own name.
 */
export function passedGroups(
  groups: readonly string[],
  { allow, prefix }: GroupRules,
  administrators: string,
): readonly string[] | undefined {
  const exact = new Set(allow.filter((pattern) => !pattern.endsWith('*')));
  const starts = allow.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1));
  const passed = new Set<string>();
  for (const group of groups) {
    const name = `${prefix}${group}`;
    const isNamed = exact.has(group);
    const isAllowed =
      name === administrators
        ? isNamed && prefix === ''
        : isNamed || starts.some((start) => group.startsWith(start));
    if (isAllowed && name.length <= MAX_GROUP_NAME && GROUP_NAME.test(name)) passed.add(name);
    if (passed.size > MAX_GROUPS) return undefined;
  }
  return [...passed].sort();
}

const MAX_DISPLAY_NAME = 128;

/** One line of at most 128 characters. */
export function displayNameOf(text: string | undefined): string {
  return (text ?? '')
    .replaceAll(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, MAX_DISPLAY_NAME)
    .toWellFormed();
}

/** Undefined for a text that is no address. */
export function emailOf(text: string | undefined): string | undefined {
  const isAddress =
    text !== undefined && text.length <= 254 && /^[\x21-\x3f\x41-\x7e]+@[\x21-\x3f\x41-\x7e]+$/.test(text);
  return isAddress ? text : undefined;
}
