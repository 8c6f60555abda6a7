// The TypeBox schema of the configuration section `oauth`. server/oauth/settings.ts converts the section to the
// settings of the authorization server.
import { Type } from 'typebox';
import { GRANT_TYPES, type GrantType } from '../../oauth/grant-types.ts';
import { SCOPES } from '../../oauth/scopes.ts';
import {
  choiceOption,
  countOption,
  durationOption,
  flagOption,
  namesOption,
  pathsOption,
  periodOption,
  quantityOption,
  section,
  textOption,
} from './option-types.ts';

const NO_LIFETIME = '0s';

const secretRef = {
  name: textOption(
    '',
    'Name of the Secret, in the namespace of the server, with the client secret. The manifests allow the server to read `ks-apiserver-clients` only. Empty: none.',
  ),
  key: textOption('clientSecret', 'Key in this Secret.'),
};

const nextSecretRef = {
  name: textOption(
    '',
    'Name of a second Secret. While a client secret is rotated, the secrets of both are valid. Empty: none.',
  ),
  key: textOption('clientSecret', 'Key in this Secret.'),
};

const client = Type.Object(
  {
    id: Type.String({
      pattern: '^[\\x21-\\x7e]{1,128}$',
      expects: '1 to 128 printable ASCII characters without spaces',
      description: 'The `client_id`.',
    }),
    displayName: textOption('', 'Name of the client on the sign-in pages. Empty: the `id`.'),
    public: flagOption(
      false,
      '`true`: a public client, such as a native app. It has no secret and must use PKCE. `false`: a confidential client, which has a secret.',
    ),
    secretFiles: pathsOption(
      'Files that contain one client secret each; reloaded on change. Every secret of the list is valid, so list the old and the new file while you rotate a secret.',
    ),
    secretRef: section(
      'Reference to a Secret in the namespace of the server with the client secret.',
      secretRef,
    ),
    nextSecretRef: section('A second Secret, while the client secret is rotated.', nextSecretRef),
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
    pkce: choiceOption(
      ['required', 'optional'],
      'required',
      '`required`: the client must use PKCE in the authorization code grant. `optional`: for confidential clients without PKCE support.',
    ),
    refreshTokens: choiceOption(
      ['rotated', 'kept'],
      'rotated',
      '`rotated`: each refresh returns a new refresh token and invalidates the old one. `kept`: the refresh token stays the same; for confidential clients that refresh concurrently.',
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

const passwords = section('Password hashing (argon2id).', {
  memory: quantityOption('19Mi', 'Memory for one password hash (argon2id).', {
    atLeast: '7Mi',
    atMost: '1Gi',
  }),
  iterations: countOption(2, 'Iterations of one password hash.'),
  concurrency: countOption(
    0,
    'Maximum number of password hashes that are computed concurrently. 0: the number of cores.',
    0,
  ),
  queue: countOption(
    64,
    'Maximum number of sign-ins that wait for a password hash. Further sign-ins get 503. Half of the queue is reserved for users who have signed in from the same address before.',
    0,
  ),
  queueTimeout: durationOption(
    '2s',
    'Maximum time that a sign-in waits for a password hash. After this time it gets 503.',
    {
      atLeast: '100ms',
    },
  ),
});

const throttle = section('Delays after failed sign-ins.', {
  failures: countOption(5, 'Number of failed sign-ins of one account before the first delay.'),
  sourceFailures: countOption(
    50,
    'Number of failed sign-ins from one IPv4 address or IPv6 /64 network before the first delay. Many users may share an address, so the default is higher than that of `failures`.',
  ),
  delay: durationOption('1s', 'First delay after failed sign-ins. Each further failure doubles it.', {
    atLeast: '100ms',
  }),
  maxDelay: durationOption('15m', 'Maximum delay after failed sign-ins.', { atLeast: '1s' }),
  reset: durationOption(
    '12h',
    'Time after the last failed sign-in until the number of failures is reset to 0.',
    {
      atLeast: '1m',
    },
  ),
  entries: countOption(
    100_000,
    'Maximum number of accounts and addresses whose failed sign-ins are counted.',
  ),
});

const keys = section('Signing keys, generated by the server and stored in a Secret.', {
  secretName: textOption(
    'ks-apiserver-signing-keys',
    'Name of the Secret with the signing keys, in the namespace of the server.',
  ),
  rotationInterval: periodOption('30d', 'Time between two rotations of the signing key.', {
    atLeast: '1h',
  }),
  publishAhead: periodOption(
    '10m',
    'Time from the publication of a new key until the server signs with it. Verifiers fetch the new key during this time.',
    { atLeast: '10s', atMost: '7d' },
  ),
});

const signInPages = section('Texts on the sign-in pages.', {
  platformName: textOption(
    '',
    'Name of the platform on the sign-in pages. Empty: the value of `platform.name`.',
  ),
  passwordHelp: textOption(
    'Forgot your password? Ask an administrator of this platform to reset it.',
    'Text on the sign-in pages for users who forgot their password, for instance the address of a help desk. Empty: no text.',
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
  refreshIdleLifetime: periodOption(
    '7d',
    'Maximum time between two refreshes of a session. A session without a refresh in this time expires.',
    {
      atLeast: '1m',
    },
  ),
  sessionLifetime: periodOption('30d', 'Maximum lifetime of a session, from the sign-in.', { atLeast: '1m' }),
  sessionsPerUser: countOption(
    50,
    'Maximum number of sessions per user. A further sign-in terminates the least recently used session.',
  ),
  verifiedTokens: countOption(
    10_000,
    'Maximum number of access tokens in the cache of verified signatures, which has a TTL of 30 s. The server still checks the expiry and the session at each use. 0: no cache.',
    0,
  ),
  trustedProxies: namesOption(
    'IP addresses or networks of trusted proxies. The server uses `X-Forwarded-For` and `X-Forwarded-Proto` from them.',
  ),
  clients: Type.Array(client, {
    default: [],
    description: 'OAuth clients. Empty: one client whose `id` and secret are the value of `platform.name`.',
  }),
  signInPages,
  passwords,
  throttle,
  keys,
  whenStale: choiceOption(
    ['refuse', 'accept'],
    'refuse',
    'Response to access tokens if the server has received nothing from its watch of sessions for 30 s. `refuse`: 503. `accept`: the server uses the last known sessions, so it may accept an access token of a terminated session.',
  ),
});
