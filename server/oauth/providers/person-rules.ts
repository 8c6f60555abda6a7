// Rules that turn what a provider says about a person into a user name and group names of this platform.
import { isUserName, MAX_USER_NAME } from '../../../apis/iam/v1beta1/custom-resource.ts';

export interface GroupRules {
  /** Names of groups that pass; `*` at the end stands for any rest. */
  readonly allow: readonly string[];
  readonly prefix: string;
}

/** More would not fit into a token. */
const MAX_GROUPS = 100;
const MAX_GROUP_NAME = 128;
/** A colon would allow reserved groups, such as `system:masters`. A lone surrogate changes when it is stored. */
const GROUP_NAME = /^[^\s:\p{Cc}\p{Cs}](?:[^:\p{Cc}\p{Cs}]*[^\s:\p{Cc}\p{Cs}])?$/u;
/**
 * What a person sees of a name that no configuration contains: no invisible character, none that changes the direction of the text, and no
 * other space than U+0020. Two names with one appearance would be two groups for RBAC, which compares bytes.
 */
const VISIBLE = /^(?:(?![\p{C}\p{Default_Ignorable_Code_Point}])[\S ])+$/u;

/**
 * Names that no person gets from a provider. Cluster roles may be bound to them, or people may believe that they belong to an
 * administrator or to a component of Kubernetes.
 */
const RESERVED =
  /^(admin|administrator|cluster-admin|kubeadmin|root|system|anonymous|(kube|kubernetes|kubelet|etcd|ks-apiserver)([-.].*)?)$/;

/** Maximum length of a name or an address. A hostile provider can send megabytes, whose conversion takes seconds. */
const MAX_TEXT = 1024;

/** Undefined for a text that is too long for a name. */
export function shortText(text: string | undefined): string | undefined {
  return text !== undefined && text.length <= MAX_TEXT ? text : undefined;
}

/** Whether a person of a provider can have the user name, if no user has it. */
export function isFreeForPeople(name: string): boolean {
  return isUserName(name) && !RESERVED.test(name);
}

/**
 * The user name of a person: ASCII in lower case, with `-` for every character that a name must not have. Undefined if no valid name
 * results. Other letters have no unique spelling, so nothing is guessed.
 */
export function userNameOf(name: string | undefined): string | undefined {
  if (name === undefined || !/^[\x20-\x7e]+$/.test(name)) return undefined;
  const derived = asUserName(name);
  return isFreeForPeople(derived) ? derived : undefined;
}

/** A name to begin with, which the person may change; empty if none can be derived. */
export function proposedName(name: string | undefined): string {
  // `ada` of `CORP\ada` and of `ada@example.com`; `é` is `e` and an accent.
  const [account = ''] = (name ?? '').replace(/^.*\\/, '').split('@');
  const derived = asUserName(account.normalize('NFKD').replaceAll(/\p{M}/gu, ''))
    .slice(0, MAX_USER_NAME)
    .replace(/[.-]+$/, '');
  return isFreeForPeople(derived) ? derived : '';
}

function asUserName(name: string): string {
  const labels = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .split('.');
  return labels
    .map((label) => label.replaceAll(/^-|-$/g, ''))
    .filter((label) => label !== '')
    .join('.');
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
    if (name.length > MAX_GROUP_NAME) continue;
    const isNamed = exact.has(group);
    const isAllowed =
      name === administrators
        ? isNamed && prefix === ''
        : isNamed || (isLegible(group) && starts.some((start) => group.startsWith(start)));
    if (isAllowed && GROUP_NAME.test(name)) passed.add(name);
    if (passed.size > MAX_GROUPS) return undefined;
  }
  return [...passed].sort();
}

/** The composed form is the usual one, so that `é` has one spelling. */
function isLegible(name: string): boolean {
  return VISIBLE.test(name) && name === name.normalize('NFC');
}

const MAX_DISPLAY_NAME = 128;

/** One line of at most 128 characters. */
export function displayNameOf(text: string | undefined): string {
  return (text ?? '')
    .slice(0, MAX_TEXT)
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
