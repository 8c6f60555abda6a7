// APIServerConfiguration: every option of the server with its default, bounds and description. Types, validation and
// the table in docs/configuration.md all come from this one schema. Reading a file is decode.ts.
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

const platform = section('How the platform calls itself.', {
  name: textOption(
    'platform',
    'Name of the platform: the API groups are `resources.<name>.io` and so on.',
    DNS_LABEL,
  ),
  namespace: textOption(
    'platform-system',
    'Namespace that the server and its Service live in; part of the names in a self-signed certificate.',
    DNS_LABEL,
  ),
  service: textOption(
    'ks-apiserver',
    'Name of the Service; part of the names in a self-signed certificate.',
    DNS_LABEL,
  ),
});

const selfSigned = section('The certificate that is made when no `certFile` is given.', {
  directory: pathOption(
    'Folder that keeps the CA across restarts (its key is in it, mode 0600). Empty: the CA lives in memory.',
  ),
  names: namesOption('Further DNS names and IP addresses that the certificate is for.'),
});

const secure = section('The TLS listener, which serves everything.', {
  address: textOption('', 'Address to listen on. Empty: all of them, IPv4 and IPv6.'),
  port: portOption(9443, 'Port; 0 takes a free one.'),
  certFile: pathOption(
    'Serving certificate with its chain, PEM; read anew when it changes. Empty: self-signed.',
  ),
  keyFile: pathOption('Private key of `certFile`, PEM.'),
  caFile: pathOption(
    'CA that clients are to trust, PEM; goes to the APIService. Empty: the last certificate of `certFile`.',
  ),
  minVersion: choiceOption(TLS_VERSIONS, 'TLSv1.2', 'Oldest TLS version that is spoken.'),
  selfSigned,
});

const insecure = section(
  'The plain-HTTP listener for callers inside the cluster: `/oauth`, `/kapis` and health; no client certificates, no front proxy.',
  {
    enabled: flagOption(true, 'Whether it listens at all.'),
    address: textOption('', 'Address to listen on. Empty: all of them, IPv4 and IPv6.'),
    port: portOption(9090, 'Port; 0 takes a free one.'),
  },
);

const limits = section('Bounds on what a client may send, and how slowly; for both listeners.', {
  connections: countOption(10_000, 'Open connections of each listener; more are closed at once.'),
  headers: quantityOption('256Ki', 'Size of all headers of a request; larger ones get 431.', {
    atLeast: '8Ki',
    atMost: '8Mi',
  }),
  body: quantityOption('3Mi', 'Size of the body of a request; larger ones get 413.', {
    atLeast: '1Ki',
    atMost: '1Gi',
  }),
  handshakeTimeout: durationOption('10s', 'A TLS handshake must be over by then.', { atLeast: '100ms' }),
  headersTimeout: durationOption('30s', 'The headers of a request must be complete by then.', {
    atLeast: '100ms',
  }),
  requestTimeout: durationOption('60s', 'A request with its body must be complete by then.', {
    atLeast: '100ms',
  }),
  keepAliveTimeout: durationOption(
    '95s',
    'An idle connection is kept that long. Above the 90 s of Go clients, so that they close first.',
    { atLeast: '1s' },
  ),
});

const listeners = section('Where the server listens.', { secure, insecure, limits });

const kubernetes = section('The cluster.', {
  kubeconfig: pathOption(
    'Kubeconfig file. Empty: the variable KUBECONFIG, else the service account of the pod, else ~/.kube/config.',
  ),
});

const authentication = section('Who a caller is.', {
  anonymous: flagOption(
    true,
    'Whether callers without credentials are `system:anonymous`; otherwise they get 401.',
  ),
  tokenCacheTTL: durationOption(
    '10s',
    'How long a bearer token that the cluster has confirmed counts without asking again.',
    { atMost: '1h' },
  ),
  refusedTokenCacheTTL: durationOption(
    '10s',
    'How long a bearer token that the cluster has refused is refused without asking again.',
    { atMost: '1h' },
  ),
});

const authorization = section('What a caller may do; asked of the cluster by SubjectAccessReview.', {
  allowCacheTTL: durationOption('10s', 'How long a permission is kept.', { atMost: '1h' }),
  denyCacheTTL: durationOption('10s', 'How long a refusal is kept.', { atMost: '1h' }),
});

const cors = section('Web pages that come from elsewhere; browsers ask the server about them.', {
  allowedOrigins: originsOption(
    'Origins of web pages whose scripts may talk to the server, such as `https://console.example.com`; compared exactly. None is needed for pages that reach it through their own origin.',
  ),
});

const requests = section('How many requests are served at once, and how long one may take.', {
  maxReadOnly: countOption(400, 'Requests that only read, at a time; more get 429. 0 is no limit.', 0),
  maxMutating: countOption(200, 'Requests that change something, at a time; more get 429. 0 is no limit.', 0),
  maxLongRunning: countOption(
    12_000,
    'Watches and other long-running requests, at a time; more get 429. 0 is no limit.',
    0,
  ),
  timeout: durationOption('60s', 'A request that is not long-running must be answered by then.', {
    atLeast: '1s',
  }),
});

const cache = section('The informer cache, for each resource.', {
  readTimeout: durationOption('3s', 'How long a read waits for a resourceVersion that is not there yet.', {
    atLeast: '100ms',
  }),
  watchWindow: section('Past events, for watches that resume; older resourceVersions get 410.', {
    events: countOption(1024, 'Past events that are kept at most.'),
    age: durationOption('5m', 'How long past events are kept at most.', { atLeast: '1s' }),
    bytes: quantityOption('32Mi', 'Memory that past events take at most.', { atLeast: '1Mi' }),
  }),
  snapshots: section('Past lists, for `continue`; older tokens get 410.', {
    count: countOption(4096, 'Past lists that are kept at most.'),
    age: durationOption('5m', 'How long past lists are kept at most.', { atLeast: '1s' }),
    bytes: quantityOption('32Mi', 'Memory that only past lists keep alive, at most.', { atLeast: '1Mi' }),
  }),
});

const watch = section('Watch streams to clients.', {
  pendingBytes: quantityOption('16Mi', 'A reader for whom more than this has to wait is cut off.', {
    atLeast: '64Ki',
  }),
  stallTimeout: durationOption('60s', 'A reader that takes nothing for this long is cut off.', {
    atLeast: '1s',
  }),
  bookmarkInterval: durationOption('60s', 'How often a watcher that asked for bookmarks gets one.', {
    atLeast: '1s',
  }),
  minTimeout: durationOption(
    '30m',
    'A watch without `timeoutSeconds` ends after this time, or at random up to twice as late.',
    { atLeast: '1s' },
  ),
});

const resources = section('What is particular to one resource.', {
  nodes: section('Nodes.', {
    usageAnnotations: flagOption(
      false,
      'Whether nodes under `/kapis` carry what their pods request and may use, as annotations. Follows all pods, which takes the right to list and watch them.',
    ),
  }),
});

const registration = section('The APIService that points to this server.', {
  manageCABundle: flagOption(
    true,
    'Keep `spec.caBundle` of our APIServices equal to our serving CA. Turn it off when something else does.',
  ),
});

const shutdown = section('What happens after SIGTERM.', {
  readinessDelay: durationOption(
    '5s',
    'How long /readyz fails before connections are refused, so that load balancers notice.',
  ),
  timeout: durationOption('20s', 'After this much longer, requests that still run are cut.'),
});

const log = section('Log lines, on standard output.', {
  level: choiceOption(LOG_LEVELS, 'info', 'Least level that is written.'),
  format: choiceOption(LOG_FORMATS, 'json', 'One JSON object a line, or text for people.'),
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

/** As it stands in the file, with all defaults filled in. */
export type APIServerConfiguration = Static<typeof APIServerConfigurationSchema>;

/** With durations in milliseconds and quantities in bytes. */
export type ResolvedConfiguration = Resolved<APIServerConfiguration>;
