// Options of the token handler: section `oauth` of the configuration. What they mean to its parts is decided in
// server/oauth; clients and their secrets in server/oauth/clients.
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
  name: textOption('', 'Name of the Secret. Empty: none.'),
  key: textOption('clientSecret', 'Key in the Secret.'),
};

const client = Type.Object(
  {
    id: Type.String({
      pattern: '^[\\x21-\\x7e]{1,128}$',
      expects: '1 to 128 printable ASCII characters without spaces',
      description: 'What the client calls itself: `client_id`.',
    }),
    displayName: textOption('', 'What people are shown. Empty: the id.'),
    public: flagOption(
      false,
      'A client that can keep no secret, such as a program on a desk: PKCE stands in for it.',
    ),
    secretFiles: pathsOption(
      'Files that each hold one secret; read anew when they change. More than one while a secret is replaced.',
    ),
    secretRef: section(
      'A Secret in the namespace of the server that holds a secret of the client.',
      secretRef,
    ),
    nextSecretRef: section('A second Secret, while the first is being replaced.', secretRef),
    grants: Type.Array(Type.Unsafe<GrantType>({ type: 'string', enum: [...GRANT_TYPES] }), {
      default: ['authorization_code', 'refresh_token'],
      uniqueItems: true,
      description: 'How the client may get tokens.',
    }),
    redirectURIs: namesOption(
      'Where the authorization endpoint may send people back to: `https`, the scheme of an app, or `http` on their own machine; compared exactly, but for the port of a loopback address.',
    ),
    postLogoutRedirectURIs: namesOption(
      'Where people may be sent after signing out: what may stand in `redirectURIs`; compared exactly.',
    ),
    pkce: choiceOption(
      ['required', 'optional'],
      'required',
      'Whether codes are given out with PKCE only. `optional`: for a program that has a secret and knows no PKCE.',
    ),
    refreshTokens: choiceOption(
      ['rotated', 'kept'],
      'rotated',
      'Whether each refresh gives a new refresh token for the old one. `kept`: for a program that has a secret and refreshes twice at once.',
    ),
    scopes: Type.Array(
      Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,64}$', expects: 'a scope of RFC 6749' }),
      {
        default: [...SCOPES],
        uniqueItems: true,
        description: 'What the client may ask for.',
      },
    ),
    accessTokenLifetime: periodOption(NO_LIFETIME, 'Shorter or longer than for others. 0s: as for others.'),
    refreshIdleLifetime: periodOption(NO_LIFETIME, 'Shorter or longer than for others. 0s: as for others.'),
    sessionLifetime: periodOption(NO_LIFETIME, 'Shorter or longer than for others. 0s: as for others.'),
  },
  { additionalProperties: false },
);

const passwords = section('How passwords are hashed (argon2id).', {
  memory: quantityOption('19Mi', 'Memory that one hash takes.', { atLeast: '7Mi', atMost: '1Gi' }),
  iterations: countOption(2, 'Passes over that memory.'),
  concurrency: countOption(0, 'Hashes that are worked on at a time. 0: as many as there are cores.', 0),
  queue: countOption(
    64,
    'Maximum number of sign-ins that wait for their hash; more get 503. Half of it is reserved for users who have signed in from the same address before.',
    0,
  ),
  queueTimeout: durationOption('2s', 'A sign-in that waited longer gets 503.', { atLeast: '100ms' }),
});

const throttle = section('Delays after failed sign-ins.', {
  failures: countOption(5, 'Failures of one account before delays begin.'),
  sourceFailures: countOption(
    50,
    'Failures from one address, or one /64 network of IPv6, before delays begin: many people may sit behind it.',
  ),
  delay: durationOption('1s', 'The first delay; each further failure doubles it.', { atLeast: '100ms' }),
  maxDelay: durationOption('15m', 'No delay is longer.', { atLeast: '1s' }),
  reset: durationOption('12h', 'Failures are forgotten after this time without another.', { atLeast: '1m' }),
  entries: countOption(100_000, 'Accounts and addresses that are remembered at most.'),
});

const keys = section('Keys that tokens are signed with; made and kept in a Secret.', {
  secretName: textOption('ks-apiserver-signing-keys', 'Name of the Secret, in the namespace of the server.'),
  rotationInterval: periodOption('30d', 'A key signs for this long, then the next one does.', {
    atLeast: '1h',
  }),
  publishAhead: periodOption(
    '10m',
    'A key is published for this long before it signs, so that everybody knows it by then.',
    { atLeast: '10s', atMost: '7d' },
  ),
});

const signInPages = section('Texts on the sign-in pages.', {
  platformName: textOption('', "Name of the platform. Empty: the platform's name in the API groups."),
  passwordHelp: textOption(
    'Forgot your password? Ask an administrator of this platform to reset it.',
    'Help for users who forgot their password, for instance the address of a help desk. Empty: none.',
  ),
});

/** Section `oauth`. */
export const oauth = section('The token handler: users sign in here.', {
  enabled: flagOption(true, 'Whether there is one.'),
  issuer: textOption(
    '',
    'The URL of the handler as everybody sees it, for instance `https://api.example.com/oauth`. Empty, for development: `https://localhost:<secure port>/oauth`.',
    {
      // Whatever stands in front of us, pages and metadata name paths below this one.
      pattern: '^$|^https://[^\\s?#@/]+/oauth$',
      expects: 'a URL with https and the path /oauth, without query, fragment, user and trailing slash',
    },
  ),
  audience: textOption('', "Who access tokens are for: their claim `aud`. Empty: the platform's name."),
  accessTokenLifetime: periodOption('2h', 'How long an access token counts.', {
    atLeast: '30s',
    atMost: '24h',
  }),
  refreshIdleLifetime: periodOption('7d', 'A session ends when it was not used for this long.', {
    atLeast: '1m',
  }),
  sessionLifetime: periodOption('30d', 'A session ends then, however much it is used.', { atLeast: '1m' }),
  sessionsPerUser: countOption(50, 'Sessions of one user; the one that was not used for longest ends first.'),
  verifiedTokens: countOption(
    10_000,
    'Access tokens whose signature is not looked at again for 30 s; expiry and session are, at every use. 0: none.',
    0,
  ),
  trustedProxies: namesOption(
    'Addresses or networks of proxies in front of the server whose `X-Forwarded-For` is believed.',
  ),
  clients: Type.Array(client, {
    default: [],
    description:
      "Programs that may ask for tokens. None: one that has the platform's name for id and secret.",
  }),
  signInPages,
  passwords,
  throttle,
  keys,
  whenStale: choiceOption(
    ['refuse', 'accept'],
    'refuse',
    'What happens to access tokens while the server has lost sight of the sessions for too long.',
  ),
});
