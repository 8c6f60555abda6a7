// The password of a user, in an object of its own that no aggregated role names: who may read users, or the Secrets of
// a namespace, does not see it.
import { type Static, Type } from 'typebox';
import { type CustomResource, USER_NAME_RULE } from './custom-resource.ts';

const CredentialSpecSchema = Type.Object(
  {
    userUID: Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'metadata.uid of the user of the same name. A user that is made anew under an old name has no password.',
    }),
    passwordHash: Type.String({
      maxLength: 512,
      pattern:
        '^(\\$argon2id\\$v=19\\$m=[0-9]+,t=[0-9]+,p=[0-9]+\\$[A-Za-z0-9+/]+\\$[A-Za-z0-9+/]+|\\$2[abxy]\\$[0-9]{2}\\$[./A-Za-z0-9]{53})$',
      expects: 'a hash: argon2id as a PHC string, or bcrypt',
      description:
        'Argon2id as a PHC string. Bcrypt is taken from imported users and replaced at the next sign-in.',
    }),
    mustChange: Type.Optional(
      Type.Boolean({ description: 'The password has to be replaced before the user can do anything else.' }),
    ),
    changedTime: Type.String({
      format: 'date-time',
      description: 'When the password became this one. Sessions that began earlier are over.',
    }),
  },
  { additionalProperties: false, description: 'The password, and whom it belongs to.' },
);

export type CredentialSpec = Static<typeof CredentialSpecSchema>;

export const CREDENTIAL: CustomResource = {
  kind: 'Credential',
  plural: 'credentials',
  singular: 'credential',
  description: 'The password of the user with the same name, as a hash.',
  spec: CredentialSpecSchema,
  columns: [
    {
      name: 'Must-Change',
      type: 'boolean',
      jsonPath: '.spec.mustChange',
      description: 'Whether the password has to be replaced first.',
    },
    {
      name: 'Changed',
      type: 'date',
      jsonPath: '.spec.changedTime',
      description: 'Since the password was set.',
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Since it was made.' },
  ],
  rules: [USER_NAME_RULE],
  selectable: [],
};
