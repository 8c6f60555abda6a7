// What clients post to the OAuth endpoints, and what they get back, as the API description shows it. The forms are read
// by server/oauth/http/form.ts and its callers: RFC 6749 has rules (which parameter goes with which grant, what counts as
// absent) that no schema tells, so a test compares the two.
import { Type } from 'typebox';
import { OAUTH_ERROR_CODES } from './errors.ts';
import { GRANT_TYPES } from './grant-types.ts';

const strict = { additionalProperties: false } as const;
const optional = (description: string, more: object = {}) =>
  Type.Optional(Type.String({ description, ...more }));
const secret = { format: 'password', writeOnly: true } as const;

const client = {
  client_id: optional('Who the client is; not needed with the Authorization header.'),
  client_secret: optional('The proof of a confidential client, unless it is in the header.', secret),
};
const scope = optional('Scopes, separated by spaces. None: no id token.');

export const TokenFormSchema = Type.Object(
  {
    grant_type: Type.Enum([...GRANT_TYPES], { description: 'How the client gets the token.' }),
    username: optional('Grant password: the user.'),
    password: optional('Grant password.', secret),
    refresh_token: optional('Grant refresh_token: the newest one; each counts once.'),
    code: optional('Grant authorization_code.'),
    redirect_uri: optional('Grant authorization_code: the one that the code was asked for with.'),
    code_verifier: optional('Grant authorization_code: what the challenge was made from (PKCE).'),
    device_code: optional('Grant device_code.'),
    scope,
    ...client,
  },
  { description: 'Parameters that are not known are ignored (RFC 6749, 3.2).' },
);

export const TokenResponseSchema = Type.Object(
  {
    access_token: Type.String({ description: 'For the header Authorization: Bearer.' }),
    token_type: Type.Literal('Bearer'),
    refresh_token: optional('For new tokens; replaced at each use.'),
    expires_in: Type.Integer({ minimum: 0, description: 'Seconds until the access token ends.' }),
    scope: optional('What was granted.'),
    id_token: optional('With scope openid: who signed in.'),
  },
  strict,
);

export const OAuthErrorSchema = Type.Object(
  {
    error: Type.Enum([...OAUTH_ERROR_CODES]),
    error_description: Type.String({ description: 'For people.' }),
  },
  { ...strict, description: 'How the OAuth endpoints answer an error (RFC 6749, 5.2).' },
);

/** Of revocation (RFC 7009) and introspection (RFC 7662). */
export const PresentedTokenFormSchema = Type.Object({
  token: Type.String({ description: 'An access token or a refresh token.' }),
  token_type_hint: optional('Not needed: the kind is told by the token itself.'),
  ...client,
});

export const IntrospectionSchema = Type.Object(
  {
    active: Type.Boolean({ description: 'Whether the token counts. If not, nothing else is said.' }),
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
    sid: optional('The session that the token belongs to.'),
  },
  strict,
);

export const UserInfoSchema = Type.Object(
  {
    sub: Type.String({ description: 'The name of the user.' }),
    preferred_username: optional('With scope profile.'),
    name: optional('With scope profile: the display name, or the name of the user where there is none.'),
    email: optional('With scope email.'),
    groups: Type.Optional(Type.Array(Type.String(), { description: 'With scope groups.' })),
  },
  strict,
);

export const DeviceAuthorizationFormSchema = Type.Object({ scope, ...client });

/** RFC 8628, 3.2. */
export const DeviceAuthorizationSchema = Type.Object(
  {
    device_code: Type.String({ description: 'For the token endpoint.' }),
    user_code: Type.String({ description: 'For the person, to be typed in.' }),
    verification_uri: Type.String(),
    verification_uri_complete: Type.String(),
    expires_in: Type.Integer({ description: 'Seconds.' }),
    interval: Type.Integer({ description: 'Seconds between two questions at the token endpoint.' }),
  },
  strict,
);

/** OpenID Connect RP-Initiated Logout 1.0, 2. */
export const LogoutParametersSchema = Type.Object({
  id_token_hint: optional('An id token of the session that is to end.'),
  post_logout_redirect_uri: optional('Where to go on; registered for the client, to the letter.'),
  client_id: optional('The client that the address is registered for.'),
  state: optional('Handed on to that address.'),
});

export const LogoutSchema = Type.Object({ message: Type.Literal('success') }, strict);

/** RFC 6749, 4.1.1 with RFC 7636, and OpenID Connect Core 1.0, 3.1.2.1. */
export const AuthorizationParametersSchema = Type.Object({
  response_type: Type.Literal('code'),
  client_id: Type.String(),
  redirect_uri: Type.String({ description: 'Registered for the client.' }),
  code_challenge: optional(
    'SHA-256 of the verifier, base64url (PKCE). Needed, but for clients with `pkce: optional`.',
  ),
  code_challenge_method: Type.Optional(
    Type.Literal('S256', { description: 'Needed with `code_challenge`.' }),
  ),
  scope,
  state: optional('Sent back as it is.'),
  nonce: optional('Goes into the id token.'),
  prompt: optional('`none` is answered with `login_required`: each request asks for the password.'),
  login_hint: optional('The name of the user, to begin with.'),
  id_token_hint: optional('An id token of the client: only its user can sign in.'),
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
