// JSON Schemas of the JSON responses of the OAuth endpoints.
import { Type } from '../reading/json-schema.ts';
import { OAUTH_ERROR_CODES } from './oauth-error.ts';

const strict = { additionalProperties: false } as const;
const optional = (description: string) => Type.Optional(Type.String({ description }));

export const TokenResponseSchema = Type.Object(
  {
    access_token: Type.String({ description: 'Access token, for the header `Authorization: Bearer`.' }),
    token_type: Type.Literal('Bearer'),
    refresh_token: optional(
      'Refresh token. Each refresh returns a new one, unless the client has `refreshTokens: kept`.',
    ),
    expires_in: Type.Integer({ minimum: 0, description: 'Seconds until the access token expires.' }),
    scope: optional('The granted scopes.'),
    id_token: optional('ID token, with scope openid.'),
  },
  strict,
);

/** RFC 9126, 2.2. */
export const PushedAuthorizationSchema = Type.Object(
  {
    request_uri: Type.String({ description: 'For the authorization endpoint, with `client_id` only.' }),
    expires_in: Type.Integer({ description: 'Seconds until the request_uri expires.' }),
  },
  strict,
);

export const OAuthErrorSchema = Type.Object(
  {
    error: Type.Enum([...OAUTH_ERROR_CODES]),
    error_description: Type.String({ description: 'Human-readable description.' }),
  },
  { ...strict, description: 'Error response of the OAuth endpoints (RFC 6749, 5.2).' },
);

export const IntrospectionSchema = Type.Object(
  {
    active: Type.Boolean({ description: 'Whether the token is valid. If false, no other field is present.' }),
    scope: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    username: Type.Optional(Type.String()),
    token_type: Type.Optional(Type.Literal('Bearer')),
    exp: Type.Optional(Type.Integer({ description: 'Seconds since the epoch.' })),
    iat: Type.Optional(Type.Integer({ description: 'Seconds since the epoch.' })),
    sub: Type.Optional(Type.String()),
    aud: Type.Optional(Type.Array(Type.String())),
    iss: Type.Optional(Type.String()),
    jti: Type.Optional(Type.String()),
    sid: optional('Session id of the token.'),
    auth_time: Type.Optional(Type.Integer({ description: 'Time of the sign-in (RFC 9470, 6.2).' })),
    acr: optional('How strong the sign-in was: `1fa` or `mfa` (RFC 9470, 6.2).'),
  },
  strict,
);

export const UserInfoSchema = Type.Object(
  {
    sub: Type.String({ description: 'The user name.' }),
    preferred_username: optional('With scope profile.'),
    name: optional('With scope profile: the display name, or the user name without one.'),
    email: optional('With scope email.'),
    email_verified: Type.Optional(
      Type.Literal(true, { description: 'With scope email, if it is verified.' }),
    ),
    groups: Type.Optional(Type.Array(Type.String(), { description: 'With scope groups.' })),
  },
  strict,
);

/** RFC 8628, 3.2. */
export const DeviceAuthorizationSchema = Type.Object(
  {
    device_code: Type.String({ description: 'Code that the device sends to the token endpoint.' }),
    user_code: Type.String({ description: 'Code that the user types.' }),
    verification_uri: Type.String(),
    verification_uri_complete: Type.String(),
    expires_in: Type.Integer({ description: 'Seconds until the codes expire.' }),
    interval: Type.Integer({ description: 'Minimum seconds between two polls of the token endpoint.' }),
  },
  strict,
);

export const LogoutSchema = Type.Object({ message: Type.Literal('success') }, strict);

export const KeySetSchema = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.String(),
        kid: Type.String(),
        alg: Type.Optional(Type.String()),
        use: Type.Optional(Type.String()),
      }),
    ),
  },
  { description: 'Public keys as a JWK Set (RFC 7517).' },
);
