// The schema of APIServerConfiguration: every option with its default, bounds and description. The TypeScript types,
// the validation and the table in docs/configuration.md are derived from it.
import { type Static, Type } from 'typebox';
import { logging } from './logging-options.ts';
import { oauth } from './oauth-options.ts';
import {
  choiceOption,
  countOption,
  durationOption,
  flagOption,
  namesOption,
  originsOption,
  pathOption,
  portOption,
  quantityOption,
  type Resolved,
  section,
  textOption,
} from './option-types.ts';

export const KIND = 'APIServerConfiguration';

/** `config.<platform>.io/v1alpha1`. */
export function apiVersionOf(platform: string): string {
  return `config.${platform}.io/v1alpha1`;
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const LOG_FORMATS = ['json', 'text'] as const;
const TLS_VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;

const DNS_LABEL = {
  pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
  expects: 'lower-case letters, digits and hyphens, at most 63',
};

const platform = section('The platform.', {
  name: textOption(
    'platform',
    'Name of the platform, part of its API groups: `resources.<name>.io`.',
    DNS_LABEL,
  ),
  namespace: textOption(
    'platform-system',
    'Namespace of the server and its Service; part of the DNS names of a self-signed certificate.',
    DNS_LABEL,
  ),
  service: textOption(
    'ks-apiserver',
    'Name of the Service; part of the DNS names of a self-signed certificate.',
    DNS_LABEL,
  ),
});

const selfSigned = section('The self-signed certificate, used without `certFile`.', {
  directory: pathOption(
    'Folder in which the CA and its key (mode 0600) are stored across restarts. Empty: the CA is only in memory.',
  ),
  names: namesOption('Additional DNS names and IP addresses of the certificate.'),
});

const secure = section('The TLS listener; it serves all paths.', {
  address: textOption('', 'Address to listen on. Empty: all addresses, IPv4 and IPv6.'),
  port: portOption(9443, 'Port to listen on. 0: a free port.'),
  certFile: pathOption(
    'Serving certificate with its intermediates, PEM; reloaded on change. Empty: a self-signed certificate.',
  ),
  keyFile: pathOption('Private key of `certFile`, PEM.'),
  caFile: pathOption(
    'CA bundle of the serving certificate, PEM; published in `spec.caBundle` of the APIServices. Empty: the last certificate of `certFile`.',
  ),
  minVersion: choiceOption(TLS_VERSIONS, 'TLSv1.2', 'Minimum TLS version.'),
  selfSigned,
});

const insecure = section(
  'The plain-HTTP listener for callers inside the cluster. It serves `/oauth`, `/kapis` and health, without client certificates or front proxy.',
  {
    enabled: flagOption(true, 'Enables the listener.'),
    address: textOption('', 'Address to listen on. Empty: all addresses, IPv4 and IPv6.'),
    port: portOption(9090, 'Port to listen on. 0: a free port.'),
  },
);

const limits = section('Limits on clients, for both listeners.', {
  connections: countOption(
    10_000,
    'Maximum number of open connections per listener; further ones are closed.',
  ),
  headers: quantityOption('256Ki', 'Maximum size of all headers of a request; larger headers get 431.', {
    atLeast: '8Ki',
    atMost: '8Mi',
  }),
  body: quantityOption('3Mi', 'Maximum size of a request body; a larger body gets 413.', {
    atLeast: '1Ki',
    atMost: '1Gi',
  }),
  handshakeTimeout: durationOption('10s', 'Timeout of a TLS handshake.', { atLeast: '100ms' }),
  headersTimeout: durationOption('30s', 'Timeout for the headers of a request.', {
    atLeast: '100ms',
  }),
  requestTimeout: durationOption('60s', 'Timeout for a request with its body.', {
    atLeast: '100ms',
  }),
  keepAliveTimeout: durationOption(
    '95s',
    'Timeout of idle connections. The default is above the 90 s of Go clients, so that the client closes first.',
    { atLeast: '1s' },
  ),
});

const listeners = section('The listeners.', { secure, insecure, limits });

const kubernetes = section('The cluster.', {
  kubeconfig: pathOption(
    'Kubeconfig file. Empty: the environment variable KUBECONFIG, else the ServiceAccount of the pod, else ~/.kube/config.',
  ),
});

const authentication = section('Authentication.', {
  anonymous: flagOption(
    true,
    'Accepts requests without credentials as `system:anonymous`. If false, these requests get 401.',
  ),
  tokenCacheTTL: durationOption('10s', 'TTL of successful TokenReviews.', { atMost: '1h' }),
  refusedTokenCacheTTL: durationOption('10s', 'TTL of failed TokenReviews.', { atMost: '1h' }),
});

const authorization = section('Authorization by SubjectAccessReview.', {
  allowCacheTTL: durationOption('10s', 'TTL of allowed SubjectAccessReviews.', { atMost: '1h' }),
  denyCacheTTL: durationOption('10s', 'TTL of denied SubjectAccessReviews.', { atMost: '1h' }),
});

const cors = section('Cross-origin resource sharing (CORS) for web pages of other origins.', {
  allowedOrigins: originsOption(
    'Allowed origins, such as `https://console.example.com`; exact match. Pages that reach the server through their own origin need none.',
  ),
});

const requests = section('Concurrency and timeout of requests.', {
  maxReadOnly: countOption(
    400,
    'Maximum number of concurrent read requests; further ones get 429. 0: no limit.',
    0,
  ),
  maxMutating: countOption(
    200,
    'Maximum number of concurrent mutating requests; further ones get 429. 0: no limit.',
    0,
  ),
  maxLongRunning: countOption(
    12_000,
    'Maximum number of concurrent watches and other long-running requests; further ones get 429. 0: no limit.',
    0,
  ),
  timeout: durationOption('60s', 'Timeout of requests that are not long-running.', {
    atLeast: '1s',
  }),
});

const cache = section('The informer cache, for each resource.', {
  readTimeout: durationOption(
    '3s',
    'Maximum wait of a get or list for a resourceVersion that the cache has not reached; then it gets 504.',
    {
      atLeast: '100ms',
    },
  ),
  watchWindow: section('Past events for resumed watches; older resourceVersions get 410.', {
    events: countOption(1024, 'Maximum number of past events.'),
    age: durationOption('5m', 'Maximum age of past events.', { atLeast: '1s' }),
    bytes: quantityOption('32Mi', 'Maximum memory of past events.', { atLeast: '1Mi' }),
  }),
  snapshots: section('Past lists for `continue`; older tokens get 410.', {
    count: countOption(4096, 'Maximum number of past lists.'),
    age: durationOption('5m', 'Maximum age of past lists.', { atLeast: '1s' }),
    bytes: quantityOption('32Mi', 'Maximum memory of objects that are only in past lists.', {
      atLeast: '1Mi',
    }),
  }),
});

const watch = section('Watch streams to clients.', {
  pendingBytes: quantityOption(
    '16Mi',
    'Maximum size of the pending events of one watch; above it, the client is disconnected.',
    {
      atLeast: '64Ki',
    },
  ),
  stallTimeout: durationOption(
    '60s',
    'Maximum time in which a client reads nothing; then it is disconnected.',
    {
      atLeast: '1s',
    },
  ),
  bookmarkInterval: durationOption('60s', 'Interval of bookmarks, for clients that request bookmarks.', {
    atLeast: '1s',
  }),
  minTimeout: durationOption(
    '30m',
    'Minimum timeout of a watch without `timeoutSeconds`; the actual timeout is random, up to twice as long.',
    { atLeast: '1s' },
  ),
});

const resources = section('Options of single resources.', {
  nodes: section('Nodes.', {
    usageAnnotations: flagOption(
      false,
      "Adds the requests and limits of a node's pods as annotations to nodes under `/kapis`. Requires the permission to list and watch all pods.",
    ),
  }),
});

const registration = section('The APIServices of this server.', {
  manageCABundle: flagOption(
    true,
    'Writes the serving CA to `spec.caBundle` of the APIServices. Disable it if another controller manages this field.',
  ),
});

const shutdown = section('Graceful stop after SIGTERM.', {
  readinessDelay: durationOption(
    '5s',
    'Time between failing `/readyz` and closing the listeners, for load balancers to react.',
  ),
  timeout: durationOption(
    '20s',
    'Timeout for requests in flight, after `readinessDelay`; then their connections are closed.',
  ),
});

const log = section('The log, on standard output.', {
  level: choiceOption(LOG_LEVELS, 'info', 'Minimum level.'),
  format: choiceOption(LOG_FORMATS, 'json', '`json`: one JSON object per line. `text`: for terminals.'),
});

export const APIServerConfigurationSchema = Type.Object(
  {
    apiVersion: Type.String({
      expects: apiVersionOf('platform'),
      description: '`config.platform.io/v1alpha1`.',
    }),
    kind: Type.Unsafe<typeof KIND>({ type: 'string', enum: [KIND], description: `\`${KIND}\`.` }),
    platform,
    listeners,
    kubernetes,
    authentication,
    authorization,
    oauth,
    cors,
    requests,
    cache,
    watch,
    resources,
    logging,
    registration,
    shutdown,
    log,
  },
  { additionalProperties: false, description: 'Configuration of ks-apiserver.' },
);

/** The configuration in the notation of the file, with all defaults. */
export type APIServerConfiguration = Static<typeof APIServerConfigurationSchema>;

/** The configuration with durations in milliseconds and quantities in bytes. */
export type ResolvedConfiguration = Resolved<APIServerConfiguration>;
