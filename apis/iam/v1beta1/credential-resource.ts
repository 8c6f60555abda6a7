// Custom resource Credential: the password hash of a user. Permission to read users or Secrets does not include the
// hashes.
import type { Static } from 'typebox';
import { Type } from '../../reading/json-schema.ts';
import { ageColumn, type CustomResource, USER_NAME_RULE } from './custom-resource.ts';

const CredentialSpecSchema = Type.Object(
  {
    userUID: Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'metadata.uid of the user with the same name. If the user is recreated, this password is not valid for the new user.',
    }),
    passwordHash: Type.String({
      maxLength: 512,
      pattern:
        '^(\\$argon2id\\$v=19\\$m=[0-9]+,t=[0-9]+,p=[0-9]+\\$[A-Za-z0-9+/]+\\$[A-Za-z0-9+/]+|\\$2[abxy]\\$[0-9]{2}\\$[./A-Za-z0-9]{53})$',
      expects: 'a hash: argon2id as a PHC string, or bcrypt',
      description:
        'Hash of the password: argon2id as a PHC string, or bcrypt for imported users. The server replaces a bcrypt hash at the next sign-in.',
    }),
    mustChange: Type.Optional(
      Type.Boolean({ description: 'Whether the user must replace the password at the next sign-in.' }),
    ),
    changedTime: Type.String({
      format: 'date-time',
      description: 'Time of the last password change. Sessions of earlier passwords are invalid.',
    }),
  },
  { additionalProperties: false, description: 'Password hash and its user.' },
);

export type CredentialSpec = Static<typeof CredentialSpecSchema>;

export const CREDENTIAL: CustomResource = {
  kind: 'Credential',
  plural: 'credentials',
  singular: 'credential',
  description: 'The password hash of the user with the same name.',
  spec: CredentialSpecSchema,
  columns: [
    {
      name: 'Must-Change',
      type: 'boolean',
      jsonPath: '.spec.mustChange',
      description: 'Whether the user must replace the password.',
    },
    {
      name: 'Changed',
      type: 'date',
      jsonPath: '.spec.changedTime',
      description: 'Time since the last change.',
    },
    ageColumn('Time since the creation.'),
  ],
  rules: [USER_NAME_RULE],
  selectable: [],
};
