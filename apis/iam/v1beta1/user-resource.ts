// Custom resource User: a person or program that signs in. The custom resource Credential contains the password hash.
import type { Static } from 'typebox';
import { Type } from '../../reading/json-schema.ts';
import { ageColumn, type CustomResource, USER_NAME_RULE } from './custom-resource.ts';

/** Object metadata that the server reads, or writes back unchanged. */
export const ObjectMetadataSchema = Type.Object({
  name: Type.String(),
  uid: Type.Optional(Type.String()),
  resourceVersion: Type.Optional(Type.String()),
  generation: Type.Optional(Type.Integer()),
  creationTimestamp: Type.Optional(Type.String({ format: 'date-time' })),
  deletionTimestamp: Type.Optional(Type.String({ format: 'date-time' })),
  finalizers: Type.Optional(Type.Array(Type.String())),
  ownerReferences: Type.Optional(Type.Array(Type.Object({}, { additionalProperties: true }))),
  labels: Type.Optional(Type.Object({}, { additionalProperties: Type.String() })),
  annotations: Type.Optional(Type.Object({}, { additionalProperties: Type.String() })),
});

const LINE = { pattern: '^[^\\x00-\\x1f\\x7f]*$', expects: 'one line of text' };

/** Maximum number of groups of a user, and of characters of their names: an access token contains them. */
export const MAX_GROUPS = 64;
export const MAX_GROUP_NAME = 128;

/**
 * Maximum number of groups that one write may grant and remove. The ValidatingAdmissionPolicy of users has an expression for
 * each of them: the cost budget of CEL allows two authorizer checks per expression and 28 per policy.
 */
export const MAX_CHANGED_GROUPS = 16;

const GroupNameSchema = Type.String({
  maxLength: MAX_GROUP_NAME,
  // A colon would allow reserved groups of Kubernetes, such as `system:masters`.
  pattern: '^[^:\\s\\x00-\\x1f\\x7f]+$',
  expects: 'a group name without ":" and without white space',
});

const Email = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: 254,
      pattern: '^$|^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+$',
      expects: 'an address such as name@example.com',
      description,
    }),
  );

export const UserSpecSchema = Type.Object(
  {
    email: Email('Email address, for display and for programs. Users cannot sign in with it.'),
    verifiedEmail: Email(
      'Email address that an administrator has verified. While `email` is the same, programs get `email_verified: true`. Setting it requires permission to impersonate all users.',
    ),
    displayName: Type.Optional(Type.String({ maxLength: 128, ...LINE, description: 'Display name.' })),
    groups: Type.Optional(
      Type.Array(GroupNameSchema, {
        maxItems: MAX_GROUPS,
        uniqueItems: true,
        description:
          'Groups of the user, for RBAC. Adding or removing a group requires permission to impersonate the group.',
      }),
    ),
    disabled: Type.Optional(
      Type.Boolean({ description: 'A disabled user cannot sign in, and has no valid session.' }),
    ),
  },
  { additionalProperties: false, description: 'Profile and groups of the user.' },
);

export const UserStatusSchema = Type.Object(
  {
    lastLoginTime: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Time of the last sign-in, with a precision of one minute.',
      }),
    ),
  },
  { additionalProperties: false, description: 'State that the server observes.' },
);

export const UserSchema = Type.Object({
  metadata: ObjectMetadataSchema,
  spec: UserSpecSchema,
  status: Type.Optional(UserStatusSchema),
});

export type User = Static<typeof UserSchema>;

export const USER: CustomResource = {
  kind: 'User',
  plural: 'users',
  singular: 'user',
  description: 'A person or program that can sign in.',
  spec: UserSpecSchema,
  status: UserStatusSchema,
  columns: [
    { name: 'Email', type: 'string', jsonPath: '.spec.email', description: 'Email address.' },
    { name: 'Groups', type: 'string', jsonPath: '.spec.groups', description: 'Groups of the user.' },
    {
      name: 'Disabled',
      type: 'boolean',
      jsonPath: '.spec.disabled',
      description: 'Whether sign-in is disabled.',
    },
    {
      name: 'Last-Login',
      type: 'date',
      jsonPath: '.status.lastLoginTime',
      description: 'Time since the last sign-in.',
      wide: true,
    },
    ageColumn('Time since the creation.'),
  ],
  rules: [USER_NAME_RULE],
  selectable: ['disabled'],
};
