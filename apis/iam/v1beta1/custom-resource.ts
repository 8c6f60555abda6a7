// Defines the type CustomResource, and the rules for user names. hack/generate creates a CustomResourceDefinition
// from each CustomResource.
import type { TObject } from 'typebox';

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** Shown with `-o wide` only. */
  readonly wide?: boolean;
}

/** A cluster-scoped resource with a required `spec`. In its schemas, `expects` describes a `pattern` in words. */
export interface CustomResource {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly description: string;
  readonly spec: TObject;
  /** Schema of the status subresource, to which separate RBAC rules apply. */
  readonly status?: TObject;
  readonly columns: readonly PrinterColumn[];
  /** CEL rules for the whole object. The only field of `metadata` that CEL can read is the name. */
  readonly rules: readonly { readonly rule: string; readonly message: string }[];
  /** Fields of the spec for field selectors. */
  readonly selectable: readonly string[];
}

/** The last column of every resource, as of kubectl. */
export function ageColumn(description: string): PrinterColumn {
  return { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description };
}

/** Maximum length of a user name, and of the name of the user's Credential. */
export const MAX_USER_NAME = 63;

/**
 * Excludes reserved user names of Kubernetes, which contain a colon. kube-apiserver rejects colons in object names
 * too.
 */
export const USER_NAME_RULE = {
  rule: `size(self.metadata.name) <= ${MAX_USER_NAME} && !self.metadata.name.startsWith('system:') && !self.metadata.name.contains(':')`,
  message: `a user name has at most ${MAX_USER_NAME} characters, does not start with "system:" and contains no ":"`,
} as const;

/** User names: object names of kube-apiserver (DNS subdomain). */
export const USER_NAME_PATTERN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';

/** Description of the pattern for error messages. */
export const USER_NAME_EXPECTS = `lower-case letters, digits, "-" and ".", beginning and ending with a letter or digit, at most ${MAX_USER_NAME} characters`;

const USER_NAME = new RegExp(USER_NAME_PATTERN);

/** Whether a name is valid. An invalid name must never become part of a request path. */
export function isUserName(name: string): boolean {
  return name.length <= MAX_USER_NAME && USER_NAME.test(name);
}
