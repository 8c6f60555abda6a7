// Custom resource Authenticators: the passkeys, the TOTP secret and the recovery codes of a user. Permission to read users
// or passwords does not include them.
import type { Static } from 'typebox';
import { Type } from '../../reading/json-schema.ts';
import { ageColumn, type CustomResource, USER_NAME_RULE } from './custom-resource.ts';

export const MAX_PASSKEYS = 10;
export const MAX_PASSKEY_NAME = 64;
/** Characters of 1024 bytes in base64url; WebAuthn allows 1023 bytes. */
export const MAX_CREDENTIAL_ID = 1366;
/** An RSA key of 12,000 bits. */
export const MAX_PUBLIC_KEY = 2048;
const MAX_RECOVERY_CODES = 20;

const Time = (description: string) => Type.String({ format: 'date-time', description });
const Base64URL = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: '^[A-Za-z0-9_-]+$', expects: 'base64url without padding', description });

const PasskeySchema = Type.Object(
  {
    id: Base64URL(MAX_CREDENTIAL_ID, 'Credential ID.'),
    publicKey: Base64URL(MAX_PUBLIC_KEY, 'Public key in COSE format.'),
    counter: Type.Integer({
      minimum: 0,
      maximum: 4_294_967_295,
      description: 'Signature counter after the last use; 0 for a synced passkey.',
    }),
    transports: Type.Array(Type.String({ minLength: 1, maxLength: 32 }), {
      maxItems: 8,
      description: 'How a browser reaches the authenticator, such as `internal` or `usb`.',
    }),
    name: Type.String({
      minLength: 1,
      maxLength: MAX_PASSKEY_NAME,
      description: 'Name that the user has given.',
    }),
    backedUp: Type.Boolean({ description: 'Whether the passkey is synced between devices.' }),
    addedTime: Time('Time of the registration.'),
    lastUsedTime: Type.Optional(Time('Time of the last use.')),
    lastChallengeTime: Type.Optional(
      Time('Issue time of the last accepted challenge. A challenge that is not newer is rejected.'),
    ),
  },
  { additionalProperties: false, description: 'A passkey (WebAuthn).' },
);

const TOTPSchema = Type.Object(
  {
    secret: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'The secret, encrypted with a key of the server for this user.',
    }),
    addedTime: Time('Time when the authenticator app was added.'),
    lastStep: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'Time step of the last accepted code. A code of this step, or of an earlier one, is rejected.',
    }),
  },
  { additionalProperties: false, description: 'An authenticator app (TOTP, RFC 6238).' },
);

const RecoveryCodeSchema = Type.Object(
  {
    hash: Type.String({
      pattern: '^[0-9a-f]{64}$',
      expects: 'a SHA-256 in lower-case hexadecimal digits',
      maxLength: 64,
      description: 'SHA-256 of the code.',
    }),
    notAfter: Type.Optional(Time('Time at which the code expires; absent for a code that does not expire.')),
  },
  { additionalProperties: false, description: 'A recovery code that is not used yet.' },
);

export const AuthenticatorsSpecSchema = Type.Object(
  {
    userUID: Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'metadata.uid of the user with the same name. If the user is recreated, nothing here is valid for the new user.',
    }),
    passkeys: Type.Optional(
      Type.Array(PasskeySchema, { maxItems: MAX_PASSKEYS, description: 'Passkeys of the user.' }),
    ),
    totp: Type.Optional(TOTPSchema),
    recoveryCodes: Type.Optional(
      Type.Array(RecoveryCodeSchema, {
        maxItems: MAX_RECOVERY_CODES,
        description: 'Recovery codes. A used code is removed.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Authenticators and their user.' },
);

export type AuthenticatorsSpec = Static<typeof AuthenticatorsSpecSchema>;
export type Passkey = Static<typeof PasskeySchema>;
export type TOTPAuthenticator = Static<typeof TOTPSchema>;
export type RecoveryCode = Static<typeof RecoveryCodeSchema>;

export const AUTHENTICATORS: CustomResource = {
  kind: 'Authenticators',
  plural: 'authenticators',
  singular: 'authenticators',
  description:
    'Passkeys, authenticator app and recovery codes of the user with the same name. A user who has any of them needs one to sign in.',
  spec: AuthenticatorsSpecSchema,
  columns: [
    {
      name: 'App-Added',
      type: 'date',
      jsonPath: '.spec.totp.addedTime',
      description: 'Time since the authenticator app was added.',
    },
    {
      name: 'Passkeys',
      type: 'string',
      jsonPath: '.spec.passkeys[*].name',
      description: 'Names of the passkeys.',
    },
    ageColumn('Time since the creation.'),
  ],
  rules: [USER_NAME_RULE],
  selectable: [],
};
