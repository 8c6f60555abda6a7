// The JSON Schema of APIServerConfiguration: every option with its default, bounds and description. TypeScript
// types, validation and the tables in docs/configuration*.md are derived from the schema.
import type { Static } from 'typebox';
import { Type } from '../../reading/json-schema.ts';
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
const TLS_VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;

const DNS_LABEL = {
  pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
  expects: 'lower-case letters, digits and hyphens, at most 63',
};

const platform = section('The platform.', {
  name: textOption('platform', 'Name in the API groups: `resources.<name>.io`.', DNS_LABEL),
});

const selfSigned = section('The certificate that the server issues, used without `certFile`.', {
  names: namesOption('Further DNS names and IP addresses of the issued certificate.'),
});

const LISTEN_ADDRESS = {
  pattern: '^[\\w.:%-]*$',
  expects: 'an IP address without brackets, or a host name of this machine',
};

const secure = section('The TLS listener; it serves all paths.', {
  address: textOption('', 'Address of the TLS listener. Empty: all addresses.', LISTEN_ADDRESS),
  port: portOption(9443, 'Port of the TLS listener. 0: a free port.'),
  certFile: pathOption('Serving certificate and intermediates. Empty: the server issues one.'),
  keyFile: pathOption('Private key of `certFile`.'),
  caFile: pathOption(
    'CA bundle of `certFile` for `spec.caBundle` of the APIServices. Empty: the last certificate of `certFile`.',
  ),
  minVersion: choiceOption(TLS_VERSIONS, 'TLSv1.2', 'Minimum TLS version.'),
  selfSigned,
});

const insecure = section(
  'The plain-HTTP listener for callers inside the cluster. It serves `/oauth`, `/kapis` and health, and supports neither client certificates nor the front proxy.',
  {
    enabled: flagOption(true, 'Plain-HTTP listener for clients inside the cluster.'),
    address: textOption('', 'The same for plain HTTP.', LISTEN_ADDRESS),
    port: portOption(9090, 'Port of plain HTTP. 0: a free port.'),
  },
);

const limits = section('Limits of each listener.', {
  connections: countOption(10_000, '[Limit](limits.md#connections) of open connections per listener.'),
});

const listeners = section('The listeners.', { secure, insecure, limits });

const kubernetes = section('The cluster.', {
  kubeconfig: pathOption(
    'Kubeconfig. Empty: the first of the variable `KUBECONFIG`, the ServiceAccount of the pod, `~/.kube/config`.',
  ),
});

const authentication = section('Authentication.', {
  anonymous: flagOption(true, 'Accepts requests without credentials as `system:anonymous`. `false`: 401.'),
  tokenCacheTTL: durationOption('10s', 'Cache TTL of TokenReviews; of failed ones at most ten seconds.', {
    atMost: '1h',
  }),
});

const authorization = section('Authorization by SubjectAccessReview.', {
  allowCacheTTL: durationOption('10s', 'Cache TTL of SubjectAccessReviews; of denials at most ten seconds.', {
    atMost: '1h',
  }),
  reviewAllNamespaces: flagOption(
    false,
    'Reviews every namespace, not only those with a RoleBinding for the caller: for [other authorizers than RBAC](access.md#other-authorizers-than-rbac).',
  ),
});

const cors = section('Cross-origin resource sharing (CORS) for web pages of other origins.', {
  allowedOrigins: originsOption(
    'Origins of web pages whose scripts can call the server, such as `https://console.example.com`.',
  ),
});

const requests = section('Concurrency of requests.', {
  seats: countOption(
    600,
    'Maximum number of concurrent requests that the server handles, without streams, and of those that the gateway forwards ([fair shares](limits.md#fair-shares)).',
  ),
  streams: countOption(
    12_000,
    'Maximum number of concurrent watches, live lists and other streams; the gateway has as many of its own, at most 5,000.',
  ),
});

const cache = section('The cache of nodes in `/apis`.', {
  currentReads: flagOption(
    false,
    'Gets and lists of nodes in `/apis` without a `resourceVersion` contain every change before the request.',
  ),
});

const explore = section('The page for browsers, and the client library.', {
  enabled: flagOption(
    true,
    'The page `/explore`, its public OAuth client `explore`, and the client library `/client/v1`.',
  ),
});

const registration = section('The APIServices of this server.', {
  manageCABundle: flagOption(
    true,
    'Writes the CA bundle to [`spec.caBundle`](network.md#who-manages-speccabundle) of the APIServices.',
  ),
});

const shutdown = section('Graceful stop after SIGTERM.', {
  readinessDelay: durationOption('10s', 'Delay after SIGTERM before the server closes its listeners.'),
});

const log = section('The log, on standard output: JSON objects for programs that collect it.', {
  level: choiceOption(LOG_LEVELS, 'info', 'Minimum level of [log lines](operations.md#the-log).'),
});

const tracing = section('Traces, exported to a collector of OpenTelemetry.', {
  endpoint: urlOption(
    'URL of an OTLP/HTTP collector for [traces](metrics.md#traces), without `/v1/traces`, such as `https://otel-collector.observability:4318`.',
  ),
  samplingRatePerMillion: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
    description: 'Number of requests in a million that the server samples by itself.',
  }),
  caFile: pathOption('CA bundle of the collector.'),
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

/** The configuration with durations in milliseconds. */
export type ResolvedConfiguration = Resolved<APIServerConfiguration>;
