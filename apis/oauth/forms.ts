// Forms of the OAuth endpoints. Each schema documents its form in OpenAPI, and the server decodes the form with it
// (server/oauth/http/form-decoder.ts). Unknown parameters are ignored (RFC 6749, 3.1 and 3.2).
import type { TObject, TSchema } from 'typebox';
import { MAX_PASSKEY_NAME } from '../iam/v1beta1/authenticators-resource.ts';
import { Type } from '../reading/json-schema.ts';
import { GRANT_TYPES, type GrantType } from './grant-types.ts';

const required = (description: string, more: object = {}) => Type.String({ description, ...more });
const optional = (description: string, more: object = {}) => Type.Optional(required(description, more));
const secret = { format: 'password', writeOnly: true } as const;

const client = {
  client_id: optional('Id of the client; not needed with the Authorization header.'),
  client_secret: optional('Secret of a confidential client, unless it is in the header.', secret),
};

/** Parameters of client authentication, which every form of a client has. */
export const ClientFormSchema = Type.Object(client);

/** RFC 6749, 3.3. Some clients write more than one blank, or blanks around the list. */
const scope = optional('Scopes, separated by spaces. Without openid, no ID token is issued.', {
  maxLength: 1024,
  pattern: '^[\\t\\r\\n \\x21\\x23-\\x5b\\x5d-\\x7e]*$',
  expects: 'a list of scopes, separated by spaces',
});

export const PasswordFormSchema = Type.Object({
  username: required('Grant password: the user name.'),
  password: required('Grant password.', secret),
  scope,
});

export const RefreshTokenFormSchema = Type.Object({
  refresh_token: required('Grant refresh_token: the current one; each is valid once.'),
  scope,
});

export const AuthorizationCodeFormSchema = Type.Object({
  code: required('Grant authorization_code.'),
  redirect_uri: required('Grant authorization_code: the redirect_uri of the authorization request.'),
  code_verifier: optional('Grant authorization_code: the verifier of the challenge (PKCE).'),
});

export const DeviceCodeFormSchema = Type.Object({ device_code: required('Grant device_code.') });

const GRANT_FORMS: Readonly<Record<GrantType, TObject>> = {
  password: PasswordFormSchema,
  refresh_token: RefreshTokenFormSchema,
  authorization_code: AuthorizationCodeFormSchema,
  'urn:ietf:params:oauth:grant-type:device_code': DeviceCodeFormSchema,
};

export const GrantTypeFormSchema = Type.Object({
  grant_type: Type.Enum([...GRANT_TYPES], { description: 'Grant type.' }),
});

/** The token endpoint, for OpenAPI: the grant type defines which of the optional parameters are required. */
export const TokenFormSchema = Type.Object(
  { ...GrantTypeFormSchema.properties, ...optionalOf(Object.values(GRANT_FORMS)), ...client },
  { description: 'Unknown parameters are ignored (RFC 6749, 3.2).' },
);

function optionalOf(forms: readonly TObject[]): Record<string, TSchema> {
  const parameters = forms.flatMap(({ properties }) => Object.entries(properties));
  return Object.fromEntries(parameters.map(([name, schema]) => [name, Type.Optional(schema)]));
}

/** Revocation (RFC 7009) and introspection (RFC 7662). */
export const PresentedTokenFormSchema = Type.Object({
  token: required('An access token or a refresh token.'),
  token_type_hint: optional('Ignored: the server recognizes the type of the token itself.'),
  ...client,
});

/** RFC 8628, 3.1. */
export const DeviceAuthorizationFormSchema = Type.Object({ scope, ...client });

/** RFC 6750, 2.2. */
export const UserInfoFormSchema = Type.Object({
  access_token: optional('The access token, unless it is in the Authorization header.', secret),
});

/** OpenID Connect RP-Initiated Logout 1.0, 2. */
export const LogoutParametersSchema = Type.Object({
  id_token_hint: optional('An ID token of the session to terminate. Without one, the user is asked.'),
  post_logout_redirect_uri: optional('Redirect target; exactly as registered for the client.'),
  client_id: optional('The client for which the URI is registered.'),
  state: optional('Added to that URI.'),
});

/** The part of an authorization request that defines where its response goes. */
export const ResponseTargetSchema = Type.Object({
  client_id: Type.String(),
  redirect_uri: required('A redirect URI that is registered for the client.', { maxLength: 2048 }),
  // State and nonce are part of URLs.
  state: optional('Returned unchanged.', { maxLength: 4096 }),
});

/** The other parameters of an authorization request. */
export const AuthorizationDetailsSchema = Type.Object({
  response_type: Type.Literal('code'),
  response_mode: Type.Optional(
    Type.Enum(['query', 'form_post'], {
      description: '`form_post`: the response is a form that the browser posts to the redirect URI.',
    }),
  ),
  code_challenge: optional(
    'SHA-256 of the verifier, base64url (PKCE). Required unless the client has `pkce: optional`.',
    { pattern: '^[A-Za-z0-9_-]{43}$', expects: 'a SHA-256 in base64url' },
  ),
  code_challenge_method: Type.Optional(
    Type.Literal('S256', { description: 'Required with `code_challenge`.' }),
  ),
  scope,
  nonce: optional('Copied into the ID token.', { maxLength: 512 }),
  prompt: optional(
    '`none`: no page is shown, and an error is returned where one is needed. `login`: the user signs in again. `select_account` and `consent`: the user confirms the account.',
  ),
  max_age: optional('Maximum seconds since the user signed in; otherwise the user signs in again.', {
    pattern: '^\\d{1,9}$',
    expects: 'a number of seconds',
  }),
  login_hint: optional(
    'The user name or email address: selects one of several accounts, and is filled into the form.',
  ),
  id_token_hint: optional('An ID token of the client: only its user can sign in.'),
  acr_values: optional(
    '`1fa` and `mfa` in the order of preference. A sign-in that meets none of them is no error.',
    { maxLength: 1024 },
  ),
  claims: optional(
    'With scope openid: a JSON object with the requested claims of the ID token and of userinfo, the expected `sub`, and the required `acr`.',
    { maxLength: 4096 },
  ),
});

/** RFC 6749, 4.1.1 with RFC 7636, and OpenID Connect Core 1.0, 3.1.2.1. */
export const AuthorizationParametersSchema = Type.Object({
  ...ResponseTargetSchema.properties,
  ...AuthorizationDetailsSchema.properties,
});

/** RFC 9126, 2.1. */
export const PushedAuthorizationFormSchema = Type.Object({
  ...AuthorizationParametersSchema.properties,
  client_secret: client.client_secret,
});

/** The forms of the sign-in pages, which are no part of the API. A missing value is an alert of the page. */
export const SignInFormSchema = Type.Object({
  decision: optional('`cancel` ends the sign-in.'),
  provider: optional('The name of an identity provider, to sign in at its pages.'),
  username: optional('The user name.'),
  password: optional('The password.', secret),
  passkey: optional('The response of a passkey, as JSON, instead of user name and password.'),
});

export const NameFormSchema = Type.Object({
  decision: optional('`cancel` ends the sign-in.'),
  name: optional('The chosen user name.'),
});

export const SignOutFormSchema = Type.Object({ decision: optional('`stay` keeps the user signed in.') });

export const AccountFormSchema = Type.Object({
  decision: optional('`cancel` ends the sign-in, any other value begins another one.'),
  account: optional('The user name of the chosen account.'),
});

export const NewPasswordFormSchema = Type.Object({
  new_password: optional('The new password.', secret),
  repeated: optional('The new password again.', secret),
});

/** A second factor at a sign-in, and a new one. */
export const FactorFormSchema = Type.Object({
  decision: optional('`cancel` ends the sign-in or the enrolment.'),
  code: optional('A code of the authenticator app, or a recovery code.', secret),
  with: Type.Optional(Type.Enum(['app', 'recovery'], { description: 'The code that the form asks for.' })),
  method: Type.Optional(
    Type.Enum(['passkey', 'app', 'recovery'], { description: 'Asks for another factor.' }),
  ),
  passkey: optional('The response of a passkey, as JSON, instead of a code.'),
  name: optional('The name of a new passkey.', { maxLength: MAX_PASSKEY_NAME }),
});

/** The query of the account page. */
export const AccountPageSchema = Type.Object({
  user: optional('The user name of one of the accounts of the browser.'),
  done: Type.Optional(
    Type.Enum(
      [
        'password',
        'session',
        'others',
        'unlinked',
        'passkey',
        'passkey-renamed',
        'passkey-removed',
        'nothing',
        'app',
        'app-removed',
        'codes',
      ],
      {
        description: 'The last action.',
      },
    ),
  ),
});

export const OwnPasswordFormSchema = Type.Object({
  password: optional('The current password.', secret),
  ...NewPasswordFormSchema.properties,
});

/** The session to end, or the session of this browser, or all others. */
export const EndSessionsFormSchema = Type.Object({
  session: optional('The id of a session of the user.'),
  end: Type.Optional(Type.Enum(['current', 'others'])),
});

/** The identity to unlink, or the provider of the one to link. */
export const IdentitiesFormSchema = Type.Object({
  unlink: optional('The name of an Identity of the user.'),
  link: optional('The name of an identity provider.'),
});

/** The account of a directory to link. `decision` is absent when the form is opened. */
export const DirectoryLinkFormSchema = Type.Object({
  link: optional('The name of an identity provider.'),
  decision: optional('`link` verifies the password, `cancel` returns to the account page.'),
  username: optional('The user name at the provider.'),
  password: optional('The password at the provider.', secret),
});

/** The action on the authenticator app, or new recovery codes. */
export const SecondFactorFormSchema = Type.Object({
  action: Type.Optional(Type.Enum(['add', 'remove', 'codes'])),
});

/** The passkey to rename or to remove, or `add`. */
export const PasskeysFormSchema = Type.Object({
  rename: optional('The id of a passkey of the user.'),
  name: optional('The new name of the passkey.', { maxLength: MAX_PASSKEY_NAME }),
  remove: optional('The id of a passkey of the user.'),
  add: optional('Shows the page that adds a passkey.'),
});

export const UserCodeFormSchema = Type.Object({ user_code: optional('The code that a device shows.') });
