import { AuthorizationParametersSchema, LogoutParametersSchema } from '../oauth/forms.ts';
import { errors, type Operation } from './operation.ts';
import { OPEN_TO_ALL } from './refusals.ts';

const FORM = 'application/x-www-form-urlencoded';
const type = 'application/json';
const tag = 'oauth';

const refused = errors(
  {
    400: 'The request is not valid, or the grant is refused.',
    401: 'The client or the token does not count.',
    405: 'The method is not served here.',
    413: 'The body is too large.',
    415: 'The body is no form, or it is encoded.',
    429: 'Too many attempts.',
    500: 'Something failed inside; the description names the request.',
    503: 'Not possible at the moment.',
    504: 'It took too long.',
  },
  'OAuthError',
);
/** The client's name and secret may as well stand in the form. */
const byClient = [['client'], []] as const;
const byToken = [['bearer'], ['oauth']] as const;
const page = (description: string) => ({ description, type: 'text/html' });
const pages = {
  200: page('A page for the person.'),
  400: page('What is wrong, for the person.'),
  401: page('The sign-in failed.'),
  405: page('The method is not served here.'),
  413: page('The form is too large.'),
  414: page('The address is too long.'),
  415: page('The body is no form.'),
  429: page('Too many attempts.'),
  503: page('Not possible at the moment.'),
};

/** The token handler. Pages that a form leads to are not a part of the API. */
export function oauthOperations(): Operation[] {
  const metadata = (path: string, id: string): Operation => ({
    method: 'get',
    path,
    id,
    tag,
    summary: 'What the token handler says about itself',
    security: OPEN_TO_ALL,
    answers: { 200: { description: 'The metadata.', type, schema: 'ServerMetadata' }, ...refused },
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
    summary: 'Who the access token belongs to',
    security: byToken,
    answers: { 200: { description: 'As far as the scopes reach.', type, schema: 'UserInfo' }, ...refused },
  };
  const logout = {
    path: '/oauth/logout',
    tag,
    summary: 'Ends the session of the access token, or of the id token',
    security: [...byToken, []],
    answers: {
      200: {
        description: 'Signed out, or nobody was signed in; a page for browsers.',
        type,
        schema: 'Logout',
        furtherTypes: ['text/html'],
      },
      303: { description: 'Signed out; it goes on at the registered address.' },
      ...refused,
    },
  };
  const authorize = {
    path: '/oauth/authorize',
    tag,
    summary: 'Where a browser is sent for a code',
    description: 'A page, over HTTPS only. The answer to the client comes by way of the browser.',
    security: OPEN_TO_ALL,
    answers: { ...pages, 303: { description: 'A refusal, to the redirect URI.' } },
  };
  return [
    {
      ...posted('/oauth/token', 'TokenForm'),
      id: 'getToken',
      summary: 'Tokens for a password, a code, a refresh token or a device code',
      answers: { 200: { description: 'The tokens.', type, schema: 'TokenResponse' }, ...refused },
    },
    {
      ...posted('/oauth/revoke', 'PresentedTokenForm'),
      id: 'revokeToken',
      summary: 'Ends the session of a token',
      answers: { 200: { description: 'The token does not count any more, if it ever did.' }, ...refused },
    },
    {
      ...posted('/oauth/introspect', 'PresentedTokenForm'),
      id: 'introspectToken',
      summary: 'Whether a token counts, and for what',
      security: byClient,
      answers: { 200: { description: 'What is known of it.', type, schema: 'Introspection' }, ...refused },
    },
    {
      ...posted('/oauth/device_authorization', 'DeviceAuthorizationForm'),
      id: 'authorizeDevice',
      summary: 'A code for a device without a browser',
      answers: { 200: { description: 'The codes.', type, schema: 'DeviceAuthorization' }, ...refused },
    },
    { ...userInfo, method: 'get', id: 'getUserInfo' },
    { ...userInfo, method: 'post', id: 'postUserInfo' },
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
      summary: 'Public keys of the tokens',
      security: OPEN_TO_ALL,
      answers: { 200: { description: 'The keys.', type, schema: 'KeySet' }, ...refused },
    },
    metadata('/oauth/.well-known/openid-configuration', 'getOpenIDConfiguration'),
    metadata('/.well-known/oauth-authorization-server/oauth', 'getAuthorizationServerMetadata'),
  ];
}
