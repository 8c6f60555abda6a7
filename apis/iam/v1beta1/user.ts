// A person or program that signs in. Holds nothing secret: see credential.ts.
import { type Static, Type } from 'typebox';
import { type CustomResource, USER_NAME_RULE } from './custom-resource.ts';
import { ObjectMetadataSchema } from './object-metadata.ts';

const LINE = { pattern: '^[^\\x00-\\x1f\\x7f]*$', expects: 'one line of text' };

const GroupNameSchema = Type.String({
  maxLength: 128,
  // `system:masters` and the like belong to Kubernetes: a colon anywhere would let somebody in.
  pattern: '^[^:\\s\\x00-\\x1f\\x7f]+$',
  expects: 'the name of a group: not starting with "system:", without ":" and without white space',
});

export const UserSpecSchema = Type.Object(
  {
    email: Type.Optional(
      Type.String({
        maxLength: 254,
        pattern: '^$|^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+$',
        expects: 'an address such as name@example.com',
        description: 'Shown to people and put into id tokens; nobody signs in with it.',
      }),
    ),
    displayName: Type.Optional(
      Type.String({ maxLength: 128, ...LINE, description: 'What people call this user.' }),
    ),
    groups: Type.Optional(
      Type.Array(GroupNameSchema, {
        maxItems: 64,
        uniqueItems: true,
        description: 'Groups that RBAC knows this user by. Given only by who may impersonate them.',
      }),
    ),
    disabled: Type.Optional(
      Type.Boolean({ description: 'A disabled user cannot sign in, and is signed out everywhere.' }),
    ),
  },
  { additionalProperties: false, description: 'Who it is, and what RBAC knows of them.' },
);

export const UserStatusSchema = Type.Object(
  {
    lastLoginTime: Type.Optional(
      Type.String({ format: 'date-time', description: 'Of the last sign-in, to the minute.' }),
    ),
  },
  { additionalProperties: false, description: 'What the server has seen of this user.' },
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
  description: 'A person or program that signs in with a password.',
  spec: UserSpecSchema,
  status: UserStatusSchema,
  columns: [
    { name: 'Email', type: 'string', jsonPath: '.spec.email', description: 'Address of the user.' },
    { name: 'Groups', type: 'string', jsonPath: '.spec.groups', description: 'Groups of the user.' },
    {
      name: 'Disabled',
      type: 'boolean',
      jsonPath: '.spec.disabled',
      description: 'Whether signing in is refused.',
    },
    {
      name: 'Last-Login',
      type: 'date',
      jsonPath: '.status.lastLoginTime',
      description: 'Since the last sign-in.',
      wide: true,
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Since it was made.' },
  ],
  rules: [USER_NAME_RULE],
  selectable: ['disabled'],
};
