// A login. Deleting the object signs out; one that somebody else made has no valid MAC and signs nobody in.
import { type Static, Type } from 'typebox';
import type { CustomResource } from './custom-resource.ts';

const Time = (description: string) => Type.String({ format: 'date-time', description });
const Digest = (description: string) =>
  Type.String({
    pattern: '^([0-9a-f]{64})?$',
    expects: 'a SHA-256 in lower-case hexadecimal digits',
    description,
  });

const SessionSpecSchema = Type.Object(
  {
    user: Type.String({ minLength: 1, maxLength: 253, description: 'Who signed in.' }),
    userUID: Type.String({ minLength: 1, maxLength: 64, description: 'metadata.uid of that user.' }),
    clientID: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'The OAuth client that it belongs to.',
    }),
    scopes: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      maxItems: 64,
      description: 'Scopes that the client was given.',
    }),
    source: Type.String({ maxLength: 64, description: 'Address that signed in, for people.' }),
    userAgent: Type.String({ maxLength: 512, description: 'Program that signed in, as it called itself.' }),
    createdTime: Time('When the user signed in.'),
    lastUsedTime: Time('When tokens were last issued.'),
    notAfter: Time('It ends then even when it is used.'),
    idleNotAfter: Time('It ends then when it is not used.'),
    generation: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'How often the refresh token was replaced.',
    }),
    refreshHash: Digest('SHA-256 of the refresh token that counts now.'),
    familyHash: Digest('SHA-256 of what all refresh tokens of this session have in common.'),
    passwordTime: Type.Optional(
      Time('`changedTime` of the password that signed in: with any other one the session is over.'),
    ),
    credentialUID: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'metadata.uid of the credential that signed in: with one made anew the session is over.',
      }),
    ),
    mac: Type.String({
      minLength: 1,
      maxLength: 256,
      description: "Over all of these, under the server's key.",
    }),
  },
  { additionalProperties: false, description: 'Who signed in, from where, and how long it lasts.' },
);

export type SessionSpec = Static<typeof SessionSpecSchema>;

export const SESSION: CustomResource = {
  kind: 'Session',
  plural: 'sessions',
  singular: 'session',
  description: 'A login of a user. Delete it to sign out.',
  spec: SessionSpecSchema,
  columns: [
    { name: 'User', type: 'string', jsonPath: '.spec.user', description: 'Who signed in.' },
    { name: 'Client', type: 'string', jsonPath: '.spec.clientID', description: 'The OAuth client.' },
    { name: 'Source', type: 'string', jsonPath: '.spec.source', description: 'Address that signed in.' },
    {
      name: 'User-Agent',
      type: 'string',
      jsonPath: '.spec.userAgent',
      description: 'Program that signed in.',
      wide: true,
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Since the sign-in.' },
    { name: 'Last-Used', type: 'date', jsonPath: '.spec.lastUsedTime', description: 'Since its last use.' },
  ],
  rules: [],
  selectable: ['user', 'clientID'],
};
