// What the definitions of our custom resources have in common. hack/generate writes CustomResourceDefinitions from them.
import type { TObject } from 'typebox';

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** Shown with `-o wide` only. */
  readonly wide?: boolean;
}

/** A cluster-scoped kind. Its `spec` is required; strings with a `pattern` say in `expects` what it demands. */
export interface CustomResource {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly description: string;
  readonly spec: TObject;
  /** A subresource of its own: who may write the spec may not write it, and the other way round. */
  readonly status?: TObject;
  readonly columns: readonly PrinterColumn[];
  /** Rules in CEL about the whole object, of which `metadata` shows the name only. */
  readonly rules: readonly { readonly rule: string; readonly message: string }[];
  /** Members of the spec that field selectors may name. */
  readonly selectable: readonly string[];
}

/** Users, and credentials and whatever else bears their names. */
export const MAX_USER_NAME = 63;

/**
 * No colon: the names of Kubernetes' own users and groups have one (`system:masters`). In names of objects, kube-apiserver
 * allows none.
 */
export const USER_NAME_RULE = {
  rule: `size(self.metadata.name) <= ${MAX_USER_NAME} && !self.metadata.name.startsWith('system:') && !self.metadata.name.contains(':')`,
  message: `the name of a user has at most ${MAX_USER_NAME} characters, does not start with "system:" and holds no ":"`,
} as const;

/** Names of users, as kube-apiserver takes them for objects. */
export const USER_NAME_PATTERN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';

/** The same for people. */
export const USER_NAME_EXPECTS = `lower-case letters, digits, "-" and ".", beginning and ending with a letter or digit, at most ${MAX_USER_NAME}`;

const USER_NAME = new RegExp(USER_NAME_PATTERN);

/** Whether a user may have this name; what it is not is never made part of a path. */
export function isUserName(name: string): boolean {
  return name.length <= MAX_USER_NAME && USER_NAME.test(name);
}
