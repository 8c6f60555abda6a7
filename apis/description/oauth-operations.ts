// Describes the OAuth endpoints in OpenAPI.
import { AuthorizationParametersSchema, LogoutParametersSchema } from '../oauth/forms.ts';
import { PUBLIC } from './filter-chain-errors.ts';
import { errors, type Operation } from './operation.ts';

const FORM = 'application/x-www-form-urlencoded';
const type = 'application/json';
const tag = 'oauth';

const chainErrors = errors(
  {
    400: 'The request is invalid, or the grant is rejected.',
    401: 'The client or the token is invalid.',
    405: 'The method is not allowed.',
    413: 'The body is too large.',
    415: 'The body is not a form, or it has a Content-Encoding.',
    429: 'Too many attempts.',
    500: 'Internal error; the description contains the request id.',
    503: 'Temporarily unavailable.',
    504: 'Timeout.',
  },
  'OAuthError',
);
/** HTTP basic authentication of the client. It is optional, because its id and secret can be in the form. */
const byClient = [['client'], []] as const;
const byToken = [['bearer'], ['oauth']] as const;
const page = (description: string) => ({ description, type: 'text/html' });
const pages = {
  200: page('A page for the user.'),
  400: page('An error page.'),
  401: page('The sign-in failed.'),
  405: page('The method is not allowed.'),
  413: page('The form is too large.'),
  414: page('The URL is too long.'),
  415: page('The body is not a form.'),
  429: page('Too many attempts.'),
  503: page('Temporarily unavailable.'),
};

/** Returns the operations of OAuth. The sign-in pages are not part of the API. */
export function oauthOperations(): Operation[] {
  const metadata = (path: string, id: string): Operation => ({
    method: 'get',
    path,
    id,
    tag,
    summary: 'Returns the metadata of the authorization server',
    security: PUBLIC,
    responses: { 200: { description: 'The metadata.', type, schema: 'ServerMetadata' }, ...chainErrors },
  });
  const posted = (path: string, schema: string) =>
    ({
      method: 'post',
      path,
      tag,
      security: byClient,
      body: { type: FORM, schema, required: true },
    }) as const;
  const userInfo = {
    path: '/oauth/userinfo',
    tag,
    summary: 'Returns claims about the user of the access token',
    security: byToken,
    responses: {
      200: { description: 'The claims of the granted scopes.', type, schema: 'UserInfo' },
      ...chainErrors,
    },
  };
  const logout = {
    path: '/oauth/logout',
    tag,
    summary: 'Terminates the session of the access token or the ID token',
    security: [...byToken, []],
    responses: {
      200: {
        description: 'The session is terminated, or there was none. A browser gets a page.',
        type,
        schema: 'Logout',
        furtherTypes: ['text/html'],
      },
      303: { description: 'The session is terminated. Redirects to the registered URI.' },
      ...chainErrors,
    },
  };
  const authorize = {
    path: '/oauth/authorize',
    tag,
    summary: 'Starts the authorization code flow in a browser',
    description:
      'Returns the sign-in page, over HTTPS only. After the sign-in, the browser is redirected to the client.',
    security: PUBLIC,
    responses: { ...pages, 303: { description: 'Redirects to the client with an error.' } },
  };
  return [
    {
      ...posted('/oauth/token', 'TokenForm'),
      id: 'getToken',
      summary: 'Exchanges a password, a code, a refresh token or a device code for tokens',
      responses: { 200: { description: 'The tokens.', type, schema: 'TokenResponse' }, ...chainErrors },
    },
    {
      ...posted('/oauth/par', 'PushedAuthorizationForm'),
      id: 'pushAuthorization',
      summary: 'Takes an authorization request, and returns a request_uri for the browser',
      responses: {
        201: { description: 'The request_uri.', type, schema: 'PushedAuthorization' },
        ...chainErrors,
      },
    },
    {
      ...posted('/oauth/revoke', 'PresentedTokenForm'),
      id: 'revokeToken',
      summary: 'Terminates the session of a token',
      responses: { 200: { description: 'The token is not valid, or not valid any more.' }, ...chainErrors },
    },
    {
      ...posted('/oauth/introspect', 'PresentedTokenForm'),
      id: 'introspectToken',
      summary: 'Returns whether a token is active, and its claims',
      security: byClient,
      responses: {
        200: { description: 'The state of the token.', type, schema: 'Introspection' },
        ...chainErrors,
      },
    },
    {
      ...posted('/oauth/device_authorization', 'DeviceAuthorizationForm'),
      // A client that authenticates with Basic needs no parameter.
      body: { type: FORM, schema: 'DeviceAuthorizationForm', required: false },
      id: 'authorizeDevice',
      summary: 'Issues codes for a device without a browser',
      responses: { 200: { description: 'The codes.', type, schema: 'DeviceAuthorization' }, ...chainErrors },
    },
    { ...userInfo, method: 'get', id: 'getUserInfo' },
    {
      ...userInfo,
      method: 'post',
      id: 'postUserInfo',
      body: { type: FORM, schema: 'UserInfoForm', required: false },
    },
    { ...logout, method: 'get', id: 'logout', query: LogoutParametersSchema },
    {
      ...logout,
      method: 'post',
      id: 'postLogout',
      body: { type: FORM, schema: 'LogoutParameters', required: false },
    },
    { ...authorize, method: 'get', id: 'authorize', query: AuthorizationParametersSchema },
    {
      ...authorize,
      method: 'post',
      id: 'postAuthorize',
      body: { type: FORM, schema: 'AuthorizationParameters', required: true },
    },
    {
      method: 'get',
      path: '/oauth/keys',
      id: 'getKeys',
      tag,
      summary: 'Returns the public keys of the tokens',
      security: PUBLIC,
      responses: { 200: { description: 'The keys.', type, schema: 'KeySet' }, ...chainErrors },
    },
    metadata('/oauth/.well-known/openid-configuration', 'getOpenIDConfiguration'),
    metadata('/.well-known/oauth-authorization-server/oauth', 'getAuthorizationServerMetadata'),
  ];
}
