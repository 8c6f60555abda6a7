// The schema of section `logging` of the configuration: the limits of log queries, and one section per log store.
import {
  choiceOption,
  countOption,
  durationOption,
  flagOption,
  namesOption,
  pathOption,
  quantityOption,
  section,
  textOption,
} from './option-types.ts';

export const LOG_STORES = ['kubernetes', 'opensearch', 'victorialogs'] as const;

const limits = section('Limits of log queries.', {
  concurrentQueries: countOption(
    8,
    'Maximum number of concurrent queries, statistics and histograms; further ones wait up to `queueTimeout`, then get 429.',
  ),
  queuedQueries: countOption(64, 'Maximum number of waiting queries; further ones get 429.', 0),
  queueTimeout: durationOption('5s', 'Maximum wait of a query.', { atLeast: '100ms' }),
  concurrentExports: countOption(4, 'Maximum number of concurrent exports; further ones get 429.'),
  concurrentFollowers: countOption(100, 'Maximum number of concurrent live tails; further ones get 429.'),
  queryTimeout: durationOption('30s', 'Timeout of a query; then it returns a partial result.', {
    atLeast: '100ms',
  }),
  exportTimeout: durationOption('30m', 'Timeout of an export; then it is truncated and marked as such.', {
    atLeast: '1s',
  }),
  exportLines: countOption(
    10_000_000,
    'Maximum number of lines of one export; a longer one is truncated and marked as such.',
  ),
  followTimeout: durationOption(
    '4h',
    'Maximum duration of a live tail; then the server asks the client to reconnect.',
    {
      atLeast: '1s',
    },
  ),
  followOverlap: durationOption(
    '15s',
    'Overlap after a reconnect: a resumed live tail repeats the lines of this time before its last event. Lines that reach the store later than this are missed.',
    { atLeast: '1s' },
  ),
  buckets: countOption(
    11_000,
    'Maximum number of buckets of a histogram. The default allows one week with buckets of one minute. For buckets of a day or longer, the maximum is 2,000.',
  ),
});

const fields = (message: string) => ({
  message: textOption(message, 'The log line.'),
  namespace: textOption('kubernetes.namespace_name', 'Namespace of the pod.'),
  pod: textOption('kubernetes.pod_name', 'Name of the pod.'),
  container: textOption('kubernetes.container_name', 'Name of the container.'),
  containerID: textOption('kubernetes.docker_id', 'ID of the container, which statistics count.'),
});

const credentials = {
  username: textOption('', 'User of basic authentication. Empty: no basic authentication.'),
  passwordFile: pathOption('File with the password; reloaded on change.'),
  caFile: pathOption('CA bundle for the certificate of the store, PEM. Empty: the CAs of the system.'),
};

const kubernetes = section('The pod log API: no installation, and only lines that the kubelets still have.', {
  maxContainers: countOption(
    500,
    'Maximum number of containers that one query reads; the response lists the omitted ones.',
  ),
  concurrentReads: countOption(
    32,
    'Maximum number of container logs that all queries and exports read concurrently.',
  ),
  followedLogs: countOption(
    1_000,
    'Maximum number of open log streams of all live tails; further live tails get 429. One caller can use three quarters of them.',
  ),
  bytesPerContainer: quantityOption(
    '64Mi',
    'Maximum size of the first part of a container log that a query reads; then it reads about as many bytes from the end of the log. Exports read the whole log.',
    { atLeast: '64Ki' },
  ),
  memory: quantityOption(
    '64Mi',
    'Maximum memory for the lines of all queries, exports and live tails. One request can use half of it.',
    { atLeast: '1Mi' },
  ),
});

const opensearch = section('OpenSearch 2 and 3, and Elasticsearch 8.', {
  urls: namesOption('URLs of the nodes, `https://…`.'),
  ...credentials,
  apiKeyFile: pathOption('File with an API key (base64 of `id:key`), instead of user and password.'),
  indexPrefix: textOption('ks-logstash-log', 'Prefix of the index names.'),
  dailyIndices: flagOption(
    true,
    'The store has one index per day (UTC), `<indexPrefix>-YYYY.MM.DD`. If false, the server searches all indices with the prefix.',
  ),
  fields: section('Field names.', {
    time: textOption('time', 'Timestamp of the line.'),
    ...fields('log'),
  }),
  pageSize: countOption(
    5_000,
    'Number of lines that an export reads per request; at most the result limit of the index.',
  ),
});

const victorialogs = section('VictoriaLogs.', {
  url: textOption('', 'URL of the store, `https://…`.'),
  ...credentials,
  bearerTokenFile: pathOption('File with a bearer token, instead of user and password.'),
  accountID: countOption(0, 'AccountID of the tenant.', 0),
  projectID: countOption(0, 'ProjectID of the tenant.', 0),
  fields: section('Field names.', fields('_msg')),
});

export const logging = section('Log queries.', {
  enabled: flagOption(true, 'Enables log queries.'),
  store: choiceOption(LOG_STORES, 'kubernetes', 'The log store.'),
  limits,
  kubernetes,
  opensearch,
  victorialogs,
});
