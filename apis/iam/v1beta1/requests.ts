// What clients of the REST API send: schemas of bodies, with the rules of the definitions where they share members.
import { type Static, Type } from 'typebox';
import { MAX_USER_NAME, USER_NAME_EXPECTS, USER_NAME_PATTERN } from './custom-resource.ts';
import { UserSpecSchema } from './user.ts';

const strict = { additionalProperties: false } as const;
const TextMap = Type.Object({}, { additionalProperties: Type.String() });

export const UserDocumentSchema = Type.Object(
  {
    apiVersion: Type.Optional(Type.String()),
    kind: Type.Optional(Type.Literal('User', { expects: 'User' })),
    metadata: Type.Object({
      name: Type.String({
        maxLength: MAX_USER_NAME,
        pattern: USER_NAME_PATTERN,
        expects: USER_NAME_EXPECTS,
      }),
      uid: Type.Optional(Type.String()),
      resourceVersion: Type.Optional(Type.String()),
      labels: Type.Optional(TextMap),
      annotations: Type.Optional(TextMap),
    }),
    spec: UserSpecSchema,
    // Taken, so that what was read can be sent back; never written.
    status: Type.Optional(Type.Unknown()),
  },
  strict,
);

export const PasswordChangeSchema = Type.Object(
  {
    password: Type.String({ writeOnly: true }),
    /** Needed by who changes the own one. */
    currentPassword: Type.Optional(Type.String({ writeOnly: true })),
    /** Whether the user has to replace it at the next sign-in; true unless told otherwise, never for the own one. */
    mustChange: Type.Optional(Type.Boolean()),
  },
  strict,
);

export type UserDocument = Static<typeof UserDocumentSchema>;
export type PasswordChange = Static<typeof PasswordChangeSchema>;
