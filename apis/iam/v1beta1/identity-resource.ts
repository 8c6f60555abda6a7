// Custom resource Identity: a person at an identity provider, and the user that the person is.
import { hash } from 'node:crypto';
import type { Static } from 'typebox';
import { Type } from '../../reading/json-schema.ts';
import { ageColumn, type CustomResource } from './custom-resource.ts';

const Text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description });

const IdentitySpecSchema = Type.Object(
  {
    provider: Text(63, 'Name of the identity provider in the configuration.'),
    issuer: Text(1024, 'The authority within which the subject is unique.'),
    subject: Text(255, 'Stable id of the person at the issuer.'),
    user: Text(63, 'Name of the user.'),
    userUID: Text(
      64,
      'metadata.uid of the user. If the user is recreated, the identity is not valid for the new user.',
    ),
    displayName: Type.Optional(
      Type.String({ maxLength: 256, description: 'Account at the provider, for display.' }),
    ),
    linkedTime: Type.Optional(
      Type.String({ format: 'date-time', description: 'Time when the identity was linked.' }),
    ),
    refresh: Type.Optional(
      Type.Object(
        {
          token: Text(16_384, 'Refresh token of the provider, encrypted.'),
          usedTime: Type.Optional(
            Type.String({
              format: 'date-time',
              description: 'Time when a replica began to use the token; absent while none uses it.',
            }),
          ),
        },
        {
          additionalProperties: false,
          description: 'With what the server asks an OpenID provider whether the person may still sign in.',
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'The person, and the user.' },
);

export type IdentitySpec = Static<typeof IdentitySpecSchema>;

export const IDENTITY: CustomResource = {
  kind: 'Identity',
  plural: 'identities',
  singular: 'identity',
  description:
    'A person at an identity provider, who signs in as a user. Delete it to end the sessions that began with it. Its name is `i-` and the first 40 digits of the SHA-256 of provider, issuer and subject, separated by NUL.',
  spec: IdentitySpecSchema,
  columns: [
    { name: 'Provider', type: 'string', jsonPath: '.spec.provider', description: 'Identity provider.' },
    {
      name: 'Account',
      type: 'string',
      jsonPath: '.spec.displayName',
      description: 'Account at the provider.',
    },
    { name: 'User', type: 'string', jsonPath: '.spec.user', description: 'Name of the user.' },
    {
      name: 'Subject',
      type: 'string',
      jsonPath: '.spec.subject',
      description: 'Id at the issuer.',
      wide: true,
    },
    ageColumn('Time since the link.'),
  ],
  rules: [],
  selectable: ['user', 'provider'],
};

/** One name for each person, so that kube-apiserver rejects a second Identity of a person. */
export function identityName({
  provider,
  issuer,
  subject,
}: Pick<IdentitySpec, 'provider' | 'issuer' | 'subject'>): string {
  return `i-${hash('sha256', [provider, issuer, subject].join('\0')).slice(0, 40)}`;
}
