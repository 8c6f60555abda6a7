// The JSON Schema of the configuration section `oauth`. server/oauth/settings.ts converts the section to the
// settings of the authorization server.
import { GRANT_TYPES, type GrantType } from '../../oauth/grant-types.ts';
import { SCOPES } from '../../oauth/scopes.ts';
import { Type } from '../../reading/json-schema.ts';
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

const secretRef = {
  name: textOption('', 'Name of the [Secret](#client-secrets) with the client secret.'),
  key: textOption(
    'clientSecret',
    'Key in this Secret. For rotation, the key with the suffix `-next` is valid too.',
  ),
};

const client = Type.Object(
  {
    id: Type.String({
      pattern: '^(?!-$)[\\x21-\\x7e]{1,128}$',
      expects: '1 to 128 printable ASCII characters without spaces, other than `-`',
      description: 'The `client_id`.',
    }),
    displayName: textOption('', 'Name on the sign-in pages. Empty: the `id`.'),
    public: flagOption(false, 'A public client, without a secret and with PKCE.'),
    secretFiles: pathsOption('Files with one client secret each, all of them valid.'),
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
      'Allowed [redirect URIs](signing-in.md#with-a-browser-authorization-code-and-pkce); exact match, except for the port of a loopback address.',
    ),
    postLogoutRedirectURIs: namesOption('Allowed redirect URIs after a logout; exact match.'),
    backchannelLogoutURI: textOption('', 'URL for [logout tokens](signing-in.md#back-channel-logout).', {
      pattern: '^$|^https://[^\\s#@]+$',
      expects: 'a URL with https, without fragment and user',
    }),
    pkce: choiceOption(
      ['required', 'optional'],
      'required',
      '`optional` is for [clients without PKCE](relying-parties.md#clients-without-pkce).',
    ),
    refreshTokens: choiceOption(
      ['rotated', 'kept'],
      'rotated',
      '`kept` is for [clients that reuse refresh tokens](users.md#clients-that-reuse-refresh-tokens).',
    ),
    idTokenSignedResponseAlg: choiceOption(['ES256', 'RS256'], 'ES256', 'Signature algorithm of ID tokens.'),
    idTokensAtGateway: flagOption(
      false,
      'The gateway accepts the [ID tokens](authentication-configuration.md#programs-that-send-only-the-id-token) of this client too.',
    ),
    scopes: Type.Array(
      Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,64}$', expects: 'a scope of RFC 6749' }),
      {
        default: [...SCOPES],
        uniqueItems: true,
        description: 'Allowed scopes.',
      },
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
      description: 'Name of the provider. A renamed provider is a new one.',
    }),
    displayName: textOption('', 'Name on the sign-in pages. Empty: the `name`.'),
    type: choiceOption(['ldap', 'oidc'], 'ldap', 'An LDAP directory, or an OpenID provider.'),
    accounts: choiceOption(
      ['create', 'choose', 'link'],
      'create',
      'The [first sign-in](identity-providers.md#accounts) of a person creates a user, or an administrator links the person.',
    ),
    groups: section('Groups of the provider that its people get, in addition to the groups of their users.', {
      allow: namesOption(
        'Allowed [groups](identity-providers.md#groups); `*` at the end of a name stands for any rest.',
      ),
      prefix: textOption('', 'Prefix of the names of these groups, such as `company-`.', {
        pattern: '^[^:\\s]{0,63}$',
        expects: 'at most 63 characters without ":" and without white space',
      }),
    }),
    outageTolerance: periodOption(
      '1h',
      'Time in which an [unavailable provider](identity-providers.md#the-provider-is-down) does not prevent a refresh.',
    ),
    ldap,
    oidc,
  },
  { additionalProperties: false },
);

const secondFactor = section(
  'Who needs a second factor. Users who have added one always need it after a password.',
  {
    groups: namesOption('Groups whose members need a second factor.'),
    providers: namesOption('Providers whose people need a second factor here.'),
    enrolmentPeriod: periodOption('24h', 'Time after the creation of a user to add the first factor.'),
  },
);

const throttle = section('Delays after failed sign-ins.', {
  failures: countOption(
    5,
    '[Failed sign-ins](signing-in.md#guessing) of one account before the first delay.',
  ),
});

const signInPages = section('Texts on the sign-in pages.', {
  platformName: textOption('', 'Name of the platform on the pages. Empty: `platform.name`.'),
  passwordHelp: textOption(
    'Forgot your password? Ask an administrator of this platform to reset it.',
    'Text for users who forgot their password.',
  ),
});

/** The paths of the sign-in pages and endpoints are below the path of the issuer, also behind a proxy. */
export const ISSUER = {
  pattern: '^$|^https://[^\\s?#@/]+/oauth$',
  expects: 'a URL with https and the path /oauth, without query, fragment, user and trailing slash',
};

/** Section `oauth`. */
export const oauth = section('The OAuth 2.0 authorization server and OpenID provider.', {
  enabled: flagOption(true, 'Enables the authorization server under `/oauth`.'),
  issuer: textOption(
    '',
    'Issuer URL that clients use, such as `https://api.example.com/oauth`. Empty, for development: `https://localhost:<secure port>/oauth`.',
    ISSUER,
  ),
  accessTokenLifetime: periodOption('2h', 'Lifetime of access tokens.', {
    atLeast: '30s',
    atMost: '24h',
  }),
  refreshIdleLifetime: periodOption('7d', 'Time without a refresh until a session expires.', {
    atLeast: '1m',
  }),
  sessionLifetime: periodOption('30d', 'Maximum lifetime of a session, from the sign-in.', { atLeast: '1m' }),
  browserSession,
  trustedProxies: namesOption(
    'IP addresses or networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` the server uses.',
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
});
