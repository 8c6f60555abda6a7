// TypeBox schemas of the OAuth forms and responses, for the OpenAPI document only. server/oauth/http/form.ts parses
// the forms of requests.
import { Type } from 'typebox';
import { GRANT_TYPES } from './grant-types.ts';
import { OAUTH_ERROR_CODES } from './oauth-error.ts';

/**
 * The endpoints do not validate with these schemas, because RFC 6749 has rules that no schema can express: for
 * example, the required parameters depend on the grant type. A test compares the schemas with the endpoints.
 */
const strict = { additionalProperties: false } as const;
const optional = (description: string, more: object = {}) =>
  Type.Optional(Type.String({ description, ...more }));
const secret = { format: 'password', writeOnly: true } as const;

const client = {
  client_id: optional('Id of the client; not needed with the Authorization header.'),
  client_secret: optional('Secret of a confidential client, unless it is in the header.', secret),
};
const scope = optional('Scopes, separated by spaces. Without openid, no ID token is issued.');

export const TokenFormSchema = Type.Object(
  {
    grant_type: Type.Enum([...GRANT_TYPES], { description: 'Grant type.' }),
    username: optional('Grant password: the user name.'),
    password: optional('Grant password.', secret),
    refresh_token: optional('Grant refresh_token: the current one; each is valid once.'),
    code: optional('Grant authorization_code.'),
    redirect_uri: optional('Grant authorization_code: the redirect_uri of the authorization request.'),
    code_verifier: optional('Grant authorization_code: the verifier of the challenge (PKCE).'),
    device_code: optional('Grant device_code.'),
    scope,
    ...client,
  },
  { description: 'Unknown parameters are ignored (RFC 6749, 3.2).' },
);

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

export const OAuthErrorSchema = Type.Object(
  {
    error: Type.Enum([...OAUTH_ERROR_CODES]),
    error_description: Type.String({ description: 'Human-readable description.' }),
  },
  { ...strict, description: 'Error response of the OAuth endpoints (RFC 6749, 5.2).' },
);

/** Form of revocation (RFC 7009) and introspection (RFC 7662). */
export const PresentedTokenFormSchema = Type.Object({
  token: Type.String({ description: 'An access token or a refresh token.' }),
  token_type_hint: optional('Ignored: the server recognizes the type of the token itself.'),
  ...client,
});

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
  },
  strict,
);

export const UserInfoSchema = Type.Object(
  {
    sub: Type.String({ description: 'The user name.' }),
    preferred_username: optional('With scope profile.'),
    name: optional('With scope profile: the display name, or the user name without one.'),
    email: optional('With scope email.'),
    groups: Type.Optional(Type.Array(Type.String(), { description: 'With scope groups.' })),
  },
  strict,
);

export const DeviceAuthorizationFormSchema = Type.Object({ scope, ...client });

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

/** OpenID Connect RP-Initiated Logout 1.0, 2. */
export const LogoutParametersSchema = Type.Object({
  id_token_hint: optional('An ID token of the session to terminate.'),
  post_logout_redirect_uri: optional('Redirect target; exactly as registered for the client.'),
  client_id: optional('The client for which the URI is registered.'),
  state: optional('Added to that URI.'),
});

export const LogoutSchema = Type.Object({ message: Type.Literal('success') }, strict);

/** RFC 6749, 4.1.1 with RFC 7636, and OpenID Connect Core 1.0, 3.1.2.1. */
export const AuthorizationParametersSchema = Type.Object({
  response_type: Type.Literal('code'),
  client_id: Type.String(),
  redirect_uri: Type.String({ description: 'A redirect URI that is registered for the client.' }),
  code_challenge: optional(
    'SHA-256 of the verifier, base64url (PKCE). Required unless the client has `pkce: optional`.',
  ),
  code_challenge_method: Type.Optional(
    Type.Literal('S256', { description: 'Required with `code_challenge`.' }),
  ),
  scope,
  state: optional('Returned unchanged.'),
  nonce: optional('Copied into the ID token.'),
  prompt: optional('`none` returns `login_required`: each request requires the password.'),
  login_hint: optional('The user name, filled into the form.'),
  id_token_hint: optional('An ID token of the client: only its user can sign in.'),
});

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
