// The TypeBox schema of the configuration section `oauth`. server/oauth/settings.ts converts the section to the
// settings of the authorization server.
import { Type } from 'typebox';
import { GRANT_TYPES, type GrantType } from '../../oauth/grant-types.ts';
import { SCOPES } from '../../oauth/scopes.ts';
import { ldap } from './ldap-options.ts';
import { oidc } from './oidc-options.ts';
import {
  choiceOption,
  countOption,
  flagOption,
  namesOption,
  pathsOption,
  periodOption,
  section,
  textOption,
} from './option-types.ts';

const NO_LIFETIME = '0s';

const secretRef = {
  name: textOption(
    '',
    'Name of the Secret, in the namespace of the server, with the client secret. The manifests allow the server to read `ks-apiserver-clients` only.',
  ),
  key: textOption(
    'clientSecret',
    'Key in this Secret. For rotation, a second secret under the key with the suffix `-next` is valid too.',
  ),
};

const client = Type.Object(
  {
    id: Type.String({
      pattern: '^(?!-$)[\\x21-\\x7e]{1,128}$',
      expects: '1 to 128 printable ASCII characters without spaces, other than `-`',
      description: 'The `client_id`.',
    }),
    displayName: textOption('', 'Name of the client on the sign-in pages. Empty: the `id`.'),
    public: flagOption(
      false,
      '`true`: a public client, without a secret and with PKCE, such as a native app.',
    ),
    secretFiles: pathsOption(
      'Files with one client secret each; reloaded on change. All of them are valid, for rotation.',
    ),
    secretRef: section(
      'Reference to a Secret in the namespace of the server with the client secret.',
      secretRef,
    ),
    grants: Type.Array(Type.Unsafe<GrantType>({ type: 'string', enum: [...GRANT_TYPES] }), {
      default: ['authorization_code', 'refresh_token'],
      uniqueItems: true,
      description: 'Allowed grant types.',
    }),
    redirectURIs: namesOption(
      'Allowed redirect URIs, with the scheme `https`, a private-use scheme, or `http` for a loopback address. Exact match, except for the port of a loopback address.',
    ),
    postLogoutRedirectURIs: namesOption(
      'Allowed redirect URIs after a logout, with the same schemes as `redirectURIs`; exact match.',
    ),
    backchannelLogoutURI: textOption(
      '',
      'URL of the client that receives a logout token when one of its sessions ends (OpenID Connect Back-Channel Logout), with `https` and a certificate of a CA that Node trusts. Empty: none.',
      {
        pattern: '^$|^https://[^\\s#@]+$',
        expects: 'a URL with https, without fragment and user',
      },
    ),
    keepAfterSignOut: flagOption(
      false,
      '`true`: a sign-out of the browser does not end the sessions of this client, such as a command-line program.',
    ),
    pkce: choiceOption(
      ['required', 'optional'],
      'required',
      '`optional`: for confidential clients without PKCE support.',
    ),
    refreshTokens: choiceOption(
      ['rotated', 'kept'],
      'rotated',
      '`rotated`: each refresh returns a new refresh token and, after ten seconds, invalidates the old one. `kept`: the refresh token stays the same; for confidential clients that use a refresh token again later.',
    ),
    idTokenSignedResponseAlg: choiceOption(
      ['ES256', 'RS256'],
      'ES256',
      'Algorithm of the signatures of ID tokens. `RS256` is for clients that accept nothing else. Access tokens are always signed with ES256.',
    ),
    idTokensAtGateway: flagOption(
      false,
      '`true`: the gateway also accepts the ID tokens of this client, for programs that cannot send the access token. kube-apiserver must accept them too.',
    ),
    scopes: Type.Array(
      Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,64}$', expects: 'a scope of RFC 6749' }),
      {
        default: [...SCOPES],
        uniqueItems: true,
        description: 'Allowed scopes.',
      },
    ),
    accessTokenLifetime: periodOption(
      NO_LIFETIME,
      'Overrides `oauth.accessTokenLifetime` for this client. 0s: no override.',
    ),
    refreshIdleLifetime: periodOption(
      NO_LIFETIME,
      'Overrides `oauth.refreshIdleLifetime` for this client. 0s: no override.',
    ),
    sessionLifetime: periodOption(
      NO_LIFETIME,
      'Overrides `oauth.sessionLifetime` for this client. 0s: no override.',
    ),
  },
  { additionalProperties: false },
);

const browserSession = section(
  'Sessions of the sign-in pages, with which users sign in without their password.',
  {
    idleLifetime: periodOption('8h', 'Maximum time between two uses of a browser session.', {
      atLeast: '1m',
    }),
    lifetime: periodOption('24h', 'Maximum lifetime of a browser session, from the sign-in.', {
      atLeast: '1m',
      atMost: '30d',
    }),
  },
);

const identityProvider = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
      expects: 'lower-case letters, digits and hyphens, at most 63',
      description: 'Name of the provider. Identity objects contain it: a renamed provider is a new one.',
    }),
    displayName: textOption('', 'Name of the provider on the sign-in pages. Empty: the `name`.'),
    type: choiceOption(
      ['ldap', 'oidc'],
      'ldap',
      '`ldap`: an LDAP directory, such as OpenLDAP or Active Directory. `oidc`: an OpenID provider, at whose pages people sign in.',
    ),
    accounts: choiceOption(
      ['create', 'choose', 'link'],
      'create',
      '`create`: the first sign-in of a person creates a user; an existing user is never taken. `choose`: the same, and the person chooses the name on a page. `link`: an administrator creates an Identity object for each person.',
    ),
    groups: section('Groups of the provider that its people get, in addition to the groups of their users.', {
      allow: namesOption(
        'Names of groups; `*` at the end of a name stands for any rest. The group of the administrators must be listed by its own name. Names with a colon are never allowed. Empty: no groups.',
      ),
      prefix: textOption('', 'Prefix of the names of these groups, such as `company-`.', {
        pattern: '^[^:\\s]{0,63}$',
        expects: 'at most 63 characters without ":" and without white space',
      }),
    }),
    outageTolerance: periodOption(
      '1h',
      'Time after the last confirmation of a person in which sessions can be refreshed although the provider does not respond.',
    ),
    ldap,
    oidc,
  },
  { additionalProperties: false },
);

const secondFactor = section(
  'Who needs a second factor. Users who have added one always need it after a password.',
  {
    groups: namesOption(
      'Groups whose members need a second factor, of this platform or of an identity provider.',
    ),
    providers: namesOption(
      'Identity providers whose people need a second factor here, unless the provider says that it has asked for one.',
    ),
    enrolmentPeriod: periodOption(
      '24h',
      'Time after the creation of a user in which a user without a second factor can add one at a sign-in. Later, an administrator issues a one-time code.',
    ),
  },
);

const throttle = section('Delays after failed sign-ins.', {
  failures: countOption(5, 'Number of failed sign-ins of one account before the first delay.'),
});

const keys = section('Signing keys, generated by the server and stored in a Secret.', {
  rotationInterval: periodOption('30d', 'Time between two rotations of the signing key.', {
    atLeast: '1h',
  }),
});

const signInPages = section('Texts on the sign-in pages.', {
  platformName: textOption(
    '',
    'Name of the platform on the sign-in pages. Empty: the value of `platform.name`.',
  ),
  passwordHelp: textOption(
    'Forgot your password? Ask an administrator of this platform to reset it.',
    'Text on the sign-in pages for users who forgot their password.',
  ),
});

/** Section `oauth`. */
export const oauth = section('The OAuth 2.0 authorization server and OpenID provider.', {
  enabled: flagOption(true, 'Enables the authorization server under `/oauth`.'),
  issuer: textOption(
    '',
    'Issuer URL that clients use, such as `https://api.example.com/oauth`. Empty, only for development: `https://localhost:<secure port>/oauth`.',
    {
      // The paths of the sign-in pages and endpoints are below the path of the issuer, also behind a proxy.
      pattern: '^$|^https://[^\\s?#@/]+/oauth$',
      expects: 'a URL with https and the path /oauth, without query, fragment, user and trailing slash',
    },
  ),
  audience: textOption('', 'Audience of access tokens (claim `aud`). Empty: the value of `platform.name`.'),
  accessTokenLifetime: periodOption('2h', 'Lifetime of access tokens.', {
    atLeast: '30s',
    atMost: '24h',
  }),
  refreshIdleLifetime: periodOption('7d', 'Time without a refresh after which a session expires.', {
    atLeast: '1m',
  }),
  sessionLifetime: periodOption('30d', 'Maximum lifetime of a session, from the sign-in.', { atLeast: '1m' }),
  browserSession,
  trustedProxies: namesOption(
    'IP addresses or networks of trusted proxies. The server uses `X-Forwarded-For` and `X-Forwarded-Proto` from them.',
  ),
  clients: Type.Array(client, {
    default: [],
    description: 'OAuth clients. Empty: one client whose `id` and secret are the value of `platform.name`.',
  }),
  identityProviders: Type.Array(identityProvider, {
    default: [],
    description:
      'Identity providers, which authenticate people who have no local password. The first one that knows a name decides.',
  }),
  secondFactor,
  signInPages,
  throttle,
  keys,
});
