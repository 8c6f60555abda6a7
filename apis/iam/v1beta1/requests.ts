// JSON Schemas of request bodies and query parameters of the users API. Validation, TypeScript types and the
// OpenAPI document are derived from the schemas.
import type { Static } from 'typebox';
import { Type } from '../../reading/json-schema.ts';
import { MAX_USER_NAME, USER_NAME_EXPECTS, USER_NAME_PATTERN } from './custom-resource.ts';
import { ObjectMetadataSchema, UserSpecSchema, UserStatusSchema } from './user-resource.ts';

const strict = { additionalProperties: false } as const;
const StringMap = Type.Object({}, { additionalProperties: Type.String() });

const typeMeta = {
  apiVersion: Type.Optional(Type.String()),
  kind: Type.Optional(Type.Literal('User', { expects: 'User' })),
};

const writableMetadata = {
  name: Type.String({
    maxLength: MAX_USER_NAME,
    pattern: USER_NAME_PATTERN,
    expects: USER_NAME_EXPECTS,
  }),
  labels: Type.Optional(StringMap),
  annotations: Type.Optional(StringMap),
};

const OwnerReferenceSchema = Type.Object(
  {
    apiVersion: Type.String(),
    kind: Type.String(),
    name: Type.String(),
    uid: Type.String(),
    controller: Type.Optional(Type.Boolean()),
    blockOwnerDeletion: Type.Optional(Type.Boolean()),
  },
  strict,
);

const { uid, resourceVersion, generation, creationTimestamp, finalizers } = ObjectMetadataSchema.properties;
/** Go clients send null for an object without a creation time. */
const nullableCreationTimestamp = Type.Optional(Type.Union([creationTimestamp, Type.Null()]));

/** Body of a POST. Every field that the server would not store is rejected. */
export const NewUserSchema = Type.Object(
  { ...typeMeta, metadata: Type.Object(writableMetadata, strict), spec: UserSpecSchema },
  strict,
);

/**
 * Body of a PUT. It accepts every field of a GET response, so that a client can modify the response and send it back.
 */
export const ReplacedUserSchema = Type.Object(
  {
    ...typeMeta,
    metadata: Type.Object(
      {
        ...writableMetadata,
        uid,
        resourceVersion,
        generation,
        creationTimestamp: nullableCreationTimestamp,
        finalizers,
        ownerReferences: Type.Optional(Type.Array(OwnerReferenceSchema)),
      },
      strict,
    ),
    spec: UserSpecSchema,
    status: Type.Optional(UserStatusSchema),
  },
  strict,
);

export const PasswordChangeSchema = Type.Object(
  {
    password: Type.String({ writeOnly: true, description: 'The new password.' }),
    currentPassword: Type.Optional(
      Type.String({
        writeOnly: true,
        description: 'The current password. It is required to change your own password.',
      }),
    ),
    mustChange: Type.Optional(
      Type.Boolean({
        description:
          "Whether the user must replace the password at the next sign-in. For another user's password, the default is true. For your own password, only false is accepted.",
      }),
    ),
  },
  strict,
);

/** Response to a reset of the second factors. */
export const FactorResetSchema = Type.Object(
  {
    kind: Type.Literal('FactorReset'),
    apiVersion: Type.String(),
    metadata: Type.Object({ name: Type.String() }, strict),
    status: Type.Object(
      {
        code: Type.String({
          description:
            'One-time code, with which the user signs in and adds a second factor. No later response contains it.',
        }),
        expirationTimestamp: Type.String({ format: 'date-time' }),
      },
      strict,
    ),
  },
  strict,
);

const MAX_PAGE_SIZE = 1000;
const MAX_PAGE = 2 ** 31 - 1;

export const UserQuerySchema = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        description: 'Users whose name, display name or email address contains this text; case-insensitive.',
      }),
    ),
    group: Type.Optional(
      Type.String({ description: 'Users that are members of the group with exactly this name.' }),
    ),
    disabled: Type.Optional(
      Type.Boolean({ description: '`true`: only disabled users. `false`: only enabled users.' }),
    ),
    page: Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE,
      default: 1,
      description: 'Page number, from 1. A page after the last one has no items.',
    }),
    limit: Type.Integer({
      minimum: -1,
      maximum: MAX_PAGE_SIZE,
      default: -1,
      description: 'Items per page. `-1` returns all items, `0` returns only the total.',
    }),
    sortBy: Type.Unsafe<'name' | 'creationTimestamp' | 'createTime'>({
      type: 'string',
      enum: ['name', 'creationTimestamp', 'createTime'],
      default: 'name',
      description: 'The sort key. Users that were created at the same time are ordered by name.',
    }),
    ascending: Type.Optional(
      Type.Boolean({
        description:
          '`true` for ascending order, `false` for the exact reverse. Default: `true` for `name`, `false` for the time of creation.',
      }),
    ),
  },
  strict,
);

export type NewUser = Static<typeof NewUserSchema>;
export type ReplacedUser = Static<typeof ReplacedUserSchema>;
export type PasswordChange = Static<typeof PasswordChangeSchema>;
export type FactorReset = Static<typeof FactorResetSchema>;
export type UserQuery = Readonly<Static<typeof UserQuerySchema>>;
