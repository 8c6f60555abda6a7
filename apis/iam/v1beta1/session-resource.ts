// Custom resource Session: a login of a user. A MAC in each object ensures that only this server can create valid
// sessions.
import type { Static } from 'typebox';
import { Type } from '../../reading/json-schema.ts';
import { ageColumn, type CustomResource } from './custom-resource.ts';

const Time = (description: string) => Type.String({ format: 'date-time', description });
const Digest = (description: string) =>
  Type.String({
    pattern: '^([0-9a-f]{64})?$',
    expects: 'a SHA-256 in lower-case hexadecimal digits',
    description,
  });

const Claims = (target: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    maxItems: 16,
    description: `Claims for ${target}.`,
  });

/** Deleting a Session object logs the user out. */
export const SessionSpecSchema = Type.Object(
  {
    user: Type.String({ minLength: 1, maxLength: 253, description: 'Name of the user.' }),
    userUID: Type.String({ minLength: 1, maxLength: 64, description: 'metadata.uid of the user.' }),
    clientID: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Id of the OAuth client; `-` for a session of the sign-in pages in a browser.',
    }),
    scopes: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      maxItems: 64,
      description: 'Granted scopes.',
    }),
    source: Type.String({ maxLength: 64, description: 'Source address of the sign-in, for display.' }),
    userAgent: Type.String({ maxLength: 512, description: 'User-Agent header of the sign-in.' }),
    createdTime: Time('Time of the sign-in.'),
    lastUsedTime: Time('Time when tokens were last issued.'),
    notAfter: Time('Time at which the session expires, even if it is used.'),
    idleNotAfter: Time('Time at which the session expires, unless it is used before. Each use extends it.'),
    generation: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Number of rotations of the refresh token.',
    }),
    refreshHash: Digest('SHA-256 of the current refresh token.'),
    familyHash: Digest('SHA-256 of the common part of all refresh tokens of this session.'),
    passwordTime: Type.Optional(
      Time(
        '`changedTime` of the Credential at the sign-in, however the user signed in. If the Credential now has another value, the session is invalid.',
      ),
    ),
    credentialUID: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'metadata.uid of the Credential at the sign-in. If the Credential was recreated, the session is invalid.',
      }),
    ),
    identity: Type.Optional(
      Type.Object(
        {
          name: Type.String({ maxLength: 63, description: 'Name of the Identity object.' }),
          uid: Type.String({
            maxLength: 64,
            description:
              'metadata.uid of the Identity. If the Identity was recreated, the session is invalid.',
          }),
          groups: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
            maxItems: 100,
            description: 'Groups that the identity provider has granted, in addition to those of the user.',
          }),
          verifiedEmail: Type.Optional(
            Type.String({ maxLength: 254, description: 'Email address that the provider has verified.' }),
          ),
          checkedTime: Time('Time when the identity provider last confirmed the person.'),
          upstream: Type.Optional(
            Type.String({ maxLength: 16_384, description: 'State of the identity provider, encrypted.' }),
          ),
        },
        {
          additionalProperties: false,
          description: 'The identity of the person, if an identity provider authenticated the user.',
        },
      ),
    ),
    passkey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1366,
        description:
          'Id of the passkey, if a passkey authenticated the user. If it is removed, the session is invalid.',
      }),
    ),
    authTime: Type.Optional(Time('Time when the user was authenticated.')),
    amr: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        maxItems: 16,
        description: 'Authentication methods (RFC 8176).',
      }),
    ),
    browser: Type.Optional(
      Type.String({
        pattern: '^s-[a-z2-7]{20}$',
        expects: 'the name of a session',
        description:
          'Name of the Session of the browser in which the user signed in at the client. If it was deleted, the session is invalid.',
      }),
    ),
    acr: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Value of the claim `acr`, if the client requested another one than `amr` implies.',
      }),
    ),
    claims: Type.Optional(
      Type.Object(
        { userinfo: Claims('userinfo responses'), idToken: Claims('ID tokens') },
        {
          additionalProperties: false,
          description: 'Claims that the client requested in addition to those of its scopes.',
        },
      ),
    ),
    mac: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'MAC (message authentication code) over all other fields, with a key of the server.',
    }),
  },
  { additionalProperties: false, description: 'User, origin and expiry of the session.' },
);

export type SessionSpec = Static<typeof SessionSpecSchema>;

export const SESSION: CustomResource = {
  kind: 'Session',
  plural: 'sessions',
  singular: 'session',
  description: 'A login of a user. Delete the session to sign the user out.',
  spec: SessionSpecSchema,
  columns: [
    { name: 'User', type: 'string', jsonPath: '.spec.user', description: 'Name of the user.' },
    { name: 'Client', type: 'string', jsonPath: '.spec.clientID', description: 'The OAuth client.' },
    { name: 'Source', type: 'string', jsonPath: '.spec.source', description: 'Source address.' },
    {
      name: 'User-Agent',
      type: 'string',
      jsonPath: '.spec.userAgent',
      description: 'User agent.',
      wide: true,
    },
    ageColumn('Time since the sign-in.'),
    {
      name: 'Last-Used',
      type: 'date',
      jsonPath: '.spec.lastUsedTime',
      description: 'Time since the last use.',
    },
  ],
  rules: [],
  selectable: ['user', 'clientID'],
};
