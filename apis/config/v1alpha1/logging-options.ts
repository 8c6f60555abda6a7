// The TypeBox schema of the configuration section `logging`: query limits and options of each log store.
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
    'Maximum number of concurrent queries (including statistics and histograms). Further queries wait up to `queueTimeout`, and then get 429.',
  ),
  queuedQueries: countOption(64, 'Maximum number of waiting queries. Further queries get 429.', 0),
  queueTimeout: durationOption('5s', 'Maximum time that a query waits before it starts.', {
    atLeast: '100ms',
  }),
  concurrentExports: countOption(
    4,
    'Maximum number of concurrent exports. A further export preempts the newest export of the caller with the most exports. If that caller has fewer than two exports more than the caller of the further export, the further export gets 429 instead.',
  ),
  concurrentFollowers: countOption(
    100,
    'Maximum number of concurrent live tails. A further live tail preempts the newest live tail of the caller with the most live tails. If that caller has fewer than two live tails more than the caller of the further live tail, the further live tail gets 429 instead.',
  ),
  queryTimeout: durationOption(
    '30s',
    'Maximum duration of a query. After this time it returns a partial result.',
    {
      atLeast: '100ms',
    },
  ),
  exportTimeout: durationOption(
    '30m',
    'Maximum duration of an export. After this time the server truncates the export and marks it as truncated.',
    {
      atLeast: '1s',
    },
  ),
  exportLines: countOption(
    10_000_000,
    'Maximum number of lines of one export. The server truncates a longer export and marks it as truncated.',
  ),
  followTimeout: durationOption(
    '4h',
    'Maximum duration of a live tail. After this time the server closes it, and the client reconnects.',
    {
      atLeast: '1s',
    },
  ),
  followOverlap: durationOption(
    '15s',
    'When a client resumes a live tail, the live tail starts this long before the last event that the client received, so lines can repeat. It misses lines that reach the store while the client is disconnected, and later than this time after their timestamp.',
    { atLeast: '1s' },
  ),
  buckets: countOption(
    11_000,
    'Maximum number of buckets of a histogram. The default is sufficient for one week with buckets of one minute. For buckets of a day or longer, the maximum is 2,000.',
  ),
});

const fields = (message: string) => ({
  message: textOption(message, 'Field with the log line.'),
  namespace: textOption('kubernetes.namespace_name', 'Field with the namespace of the pod.'),
  pod: textOption('kubernetes.pod_name', 'Field with the name of the pod.'),
  container: textOption('kubernetes.container_name', 'Field with the name of the container.'),
  containerID: textOption(
    'kubernetes.docker_id',
    'Field with the ID of the container. Statistics count the different IDs.',
  ),
});

const credentials = {
  username: textOption('', 'User name for basic authentication. Empty: no basic authentication.'),
  passwordFile: pathOption('File with the password of `username`; reloaded on change.'),
  caFile: pathOption(
    'File with the CA bundle that verifies the certificate of the store, PEM. Empty: the CAs of the system.',
  ),
};

const kubernetes = section('The pod log API: no installation, and only lines that the kubelets still have.', {
  maxContainers: countOption(
    500,
    'Maximum number of containers whose logs one query reads. The response lists the omitted containers.',
  ),
  concurrentReads: countOption(
    32,
    'Maximum number of container logs that all queries and exports read concurrently. One caller can use half of the number.',
  ),
  followedLogs: countOption(
    1_000,
    'Maximum number of container logs that all live tails follow. Further live tails get 429. One caller can use half of the number.',
  ),
  bytesPerContainer: quantityOption(
    '64Mi',
    'Maximum size of a container log that a query reads completely. A query reads only the start and the end of a larger log, about this many bytes each. Exports read the whole log.',
    { atLeast: '64Ki' },
  ),
  memory: quantityOption(
    '64Mi',
    'Maximum memory for the lines of all queries, exports and live tails together. One request can use half of it.',
    { atLeast: '1Mi' },
  ),
});

const opensearch = section('OpenSearch 2 and 3, and Elasticsearch 8.', {
  urls: namesOption('URLs of the OpenSearch nodes, `https://…`.'),
  ...credentials,
  apiKeyFile: pathOption(
    'File with an API key (base64 of `id:key`). Use it instead of user name and password.',
  ),
  indexPrefix: textOption('ks-logstash-log', 'Prefix of the index names.'),
  dailyIndices: flagOption(
    true,
    '`true`: the store has one index per day (UTC), `<indexPrefix>-YYYY.MM.DD`. `false`: the server searches all indices with the prefix.',
  ),
  fields: section('Field names.', {
    time: textOption('time', 'Field with the timestamp of the line.'),
    ...fields('log'),
  }),
  pageSize: countOption(
    5_000,
    'Number of lines that an export reads per request to the store. It must not exceed `index.max_result_window` of the indices.',
  ),
});

const victorialogs = section('VictoriaLogs.', {
  url: textOption('', 'URL of the store, `https://…`.'),
  ...credentials,
  bearerTokenFile: pathOption('File with a bearer token. Use it instead of user name and password.'),
  accountID: countOption(0, '`AccountID` of the VictoriaLogs tenant.', 0),
  projectID: countOption(0, '`ProjectID` of the VictoriaLogs tenant.', 0),
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
