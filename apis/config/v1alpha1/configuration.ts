// The TypeBox schema of APIServerConfiguration: every option with its default, bounds and description. TypeScript
// types, validation and the tables in docs/configuration*.md are derived from the schema.
import { type Static, Type } from 'typebox';
import { gateway } from './gateway-options.ts';
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
  type Resolved,
  section,
  textOption,
  urlOption,
} from './option-types.ts';
import { resources } from './resources-options.ts';

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
    'Name of the platform; part of the API groups: `resources.<name>.io`.',
    DNS_LABEL,
  ),
  namespace: textOption(
    'platform-system',
    'Namespace of the server and its Service. Part of the DNS names of issued certificates.',
    DNS_LABEL,
  ),
});

const selfSigned = section('The certificate that the server issues, used without `certFile`.', {
  names: namesOption('Additional DNS names and IP addresses of the certificate.'),
});

const secure = section('The TLS listener; it serves all paths.', {
  address: textOption('', 'Address of the TLS listener. Empty: all addresses, IPv4 and IPv6.'),
  port: portOption(9443, 'Port of the TLS listener. 0: a free port.'),
  certFile: pathOption(
    'Serving certificate and intermediates, PEM; reloaded on change. Empty: the server issues one.',
  ),
  keyFile: pathOption('Private key of `certFile`, PEM; reloaded on change.'),
  caFile: pathOption(
    'CA bundle of `certFile` for `spec.caBundle` of the APIServices, PEM; reloaded on change. Empty: the last certificate of `certFile`.',
  ),
  minVersion: choiceOption(TLS_VERSIONS, 'TLSv1.2', 'Minimum TLS version.'),
  selfSigned,
});

const insecure = section(
  'The plain-HTTP listener for callers inside the cluster. It serves `/oauth`, `/kapis` and health, and supports neither client certificates nor the front proxy.',
  {
    enabled: flagOption(true, 'Enables the plain-HTTP listener for clients inside the cluster.'),
    address: textOption('', 'Address of the plain-HTTP listener. Empty: all addresses, IPv4 and IPv6.'),
    port: portOption(9090, 'Port of the plain-HTTP listener. 0: a free port.'),
  },
);

const limits = section('Limits of each listener.', {
  connections: countOption(
    10_000,
    'Maximum number of open connections per listener. A further one displaces one of the network with the most.',
  ),
});

const listeners = section('The listeners.', { secure, insecure, limits });

const kubernetes = section('The cluster.', {
  kubeconfig: pathOption(
    'Kubeconfig file. Empty: the first of the variable `KUBECONFIG`, the ServiceAccount of the pod, `~/.kube/config`.',
  ),
});

const authentication = section('Authentication.', {
  anonymous: flagOption(true, 'Accepts requests without credentials as `system:anonymous`. `false`: 401.'),
  tokenCacheTTL: durationOption(
    '10s',
    'Cache TTL of successful TokenReviews. Failed ones: the same, at most ten seconds.',
    { atMost: '1h' },
  ),
});

const authorization = section('Authorization by SubjectAccessReview.', {
  allowCacheTTL: durationOption(
    '10s',
    'Cache TTL of SubjectAccessReviews that allow the request. Denials: the same, at most ten seconds.',
    {
      atMost: '1h',
    },
  ),
  reviewAllNamespaces: flagOption(
    false,
    'For lists and log queries of callers without the permission for the whole cluster: `true` reviews every namespace, `false` only those with a RoleBinding for the caller. Must be `true` with other authorizers than RBAC.',
  ),
});

const cors = section('Cross-origin resource sharing (CORS) for web pages of other origins.', {
  allowedOrigins: originsOption(
    'Origins of web pages whose scripts can call the server, such as `https://console.example.com`. An origin must match exactly.',
  ),
});

const requests = section('Concurrency of requests.', {
  seats: countOption(
    600,
    'Maximum number of concurrent requests that the server handles, without streams, and of those that the gateway forwards. A further one waits up to five seconds, and then gets 429.',
  ),
  streams: countOption(
    12_000,
    'Maximum number of concurrent watches, live lists and other streams. The gateway has as many of its own, at most 5,000. A further one preempts one of the caller with the most, or gets 429.',
  ),
});

const cache = section('The cache of nodes in `/apis`.', {
  currentReads: flagOption(
    false,
    'For gets and lists of nodes in `/apis` without a `resourceVersion`. `true`: the response contains every change before the request. `false`: it may lag behind by milliseconds.',
  ),
});

const explore = section('The page for browsers, and the client library.', {
  enabled: flagOption(
    true,
    'Serves the page `/explore` and the client library `/client/v1` on the TLS listener, with the public OAuth client `explore`.',
  ),
});

const registration = section('The APIServices of this server.', {
  manageCABundle: flagOption(
    true,
    'Writes the CA bundle of the server to `spec.caBundle` of the APIServices. Set `false` if another controller manages this field.',
  ),
});

const shutdown = section('Graceful stop after SIGTERM.', {
  readinessDelay: durationOption(
    '10s',
    'Delay after SIGTERM before the server closes its listeners, in which `/readyz` fails.',
  ),
  timeout: durationOption(
    '20s',
    'Maximum time, after `readinessDelay`, until requests in flight complete. Then the server closes their connections.',
  ),
});

const log = section('The log, on standard output.', {
  level: choiceOption(LOG_LEVELS, 'info', 'Minimum level of the log lines that are written.'),
  format: choiceOption(
    LOG_FORMATS,
    'json',
    '`json`: one JSON object per line. `text`: readable lines for terminals.',
  ),
});

const tracing = section('Traces, exported to a collector of OpenTelemetry.', {
  endpoint: urlOption(
    'URL of a collector that receives OTLP over HTTP, such as `https://otel-collector.observability:4318`. The server appends `/v1/traces`. Empty: no traces.',
  ),
  samplingRatePerMillion: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
    description:
      'Number of requests in a million that the server samples by itself. With 0, only callers request samples.',
  }),
  caFile: pathOption(
    'CA bundle of the certificate of the collector, PEM; reloaded on change. Empty: the CAs of Node.js.',
  ),
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
    gateway,
    oauth,
    cors,
    requests,
    cache,
    resources,
    logging,
    explore,
    registration,
    shutdown,
    log,
    tracing,
  },
  { additionalProperties: false, description: 'Configuration of ks-apiserver.' },
);

/** The configuration in the notation of the file, with all defaults. */
export type APIServerConfiguration = Static<typeof APIServerConfigurationSchema>;

/** The configuration with durations in milliseconds and quantities in bytes. */
export type ResolvedConfiguration = Resolved<APIServerConfiguration>;
