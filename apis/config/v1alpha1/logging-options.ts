// The options of log queries: the handler's limits, and one part for each store.
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

const limits = section('How much one query, and all of them together, may take.', {
  concurrentQueries: countOption(
    8,
    'Queries, statistics and histograms at a time; more wait for `queueTimeout`, then get 429.',
  ),
  queuedQueries: countOption(64, 'Queries that may wait for their turn; more get 429 at once.', 0),
  queueTimeout: durationOption('5s', 'How long a query waits for its turn.', { atLeast: '100ms' }),
  concurrentExports: countOption(4, 'Exports at a time; more get 429.'),
  concurrentFollowers: countOption(100, 'Callers who follow logs, at a time; more get 429.'),
  queryTimeout: durationOption('30s', 'What is found by then is the answer, marked as partial.', {
    atLeast: '100ms',
  }),
  exportTimeout: durationOption('30m', 'An export that takes longer is cut, and says so.', { atLeast: '1s' }),
  exportLines: countOption(10_000_000, 'Lines of one export; it is cut behind them, and says so.'),
  followTimeout: durationOption('4h', 'A caller who follows logs is asked to come again after this time.', {
    atLeast: '1s',
  }),
  followOverlap: durationOption(
    '15s',
    'How far before the last event that it has seen a client of Server-Sent Events goes on that comes back: lines that reach the store later than this are missed, and those of that time come again.',
    { atLeast: '1s' },
  ),
  buckets: countOption(
    11_000,
    'Buckets of one histogram: a week by the minute, which consoles ask for. Of days and longer 2,000 at most.',
  ),
});

const fields = (message: string) => ({
  message: textOption(message, 'The line.'),
  namespace: textOption('kubernetes.namespace_name', 'Namespace of the pod.'),
  pod: textOption('kubernetes.pod_name', 'Name of the pod.'),
  container: textOption('kubernetes.container_name', 'Name of the container.'),
  containerID: textOption('kubernetes.docker_id', 'Id of the container, which statistics count.'),
});

const credentials = {
  username: textOption('', 'User of basic authentication. Empty: none.'),
  passwordFile: pathOption('File with the password; read anew when it changes.'),
  caFile: pathOption('CA of the certificate of the store, PEM. Empty: those that the system trusts.'),
};

const kubernetes = section('The pod log API: nothing to install, and only what the kubelets still keep.', {
  maxContainers: countOption(500, 'Containers that one query reads; further ones are left out, and named.'),
  concurrentReads: countOption(32, 'Logs that are read at a time, for all queries together.'),
  followedLogs: countOption(
    1_000,
    'Logs that are followed at a time, for all callers together, and three quarters of them for one; who would follow more gets 429.',
  ),
  bytesPerContainer: quantityOption(
    '64Mi',
    'Of one log, the newest so many bytes are read for one query; exports read all.',
    {
      atLeast: '64Ki',
    },
  ),
  memory: quantityOption(
    '64Mi',
    'Lines that are held for all queries, exports and followers together; one alone may take half of it.',
    { atLeast: '1Mi' },
  ),
});

const opensearch = section('OpenSearch 2 and 3, and Elasticsearch 8.', {
  urls: namesOption('Addresses of the nodes, `https://…`.'),
  ...credentials,
  apiKeyFile: pathOption('File with an API key (`id:key` in base64), in place of user and password.'),
  indexPrefix: textOption('ks-logstash-log', 'Beginning of the names of the indices.'),
  dailyIndices: flagOption(
    true,
    'Whether there is one index a day of UTC, `<indexPrefix>-YYYY.MM.DD`; otherwise all that begin with the prefix are searched.',
  ),
  fields: section('Names of the fields.', {
    time: textOption('time', 'When the line was written.'),
    ...fields('log'),
  }),
  pageSize: countOption(5_000, 'Lines that one request of an export fetches; at most what the index allows.'),
});

const victorialogs = section('VictoriaLogs.', {
  url: textOption('', 'Address, `https://…`.'),
  ...credentials,
  bearerTokenFile: pathOption('File with a bearer token, in place of user and password.'),
  accountID: countOption(0, 'Tenant: account.', 0),
  projectID: countOption(0, 'Tenant: project.', 0),
  fields: section('Names of the fields.', fields('_msg')),
});

export const logging = section('Log queries.', {
  enabled: flagOption(true, 'Whether logs can be queried.'),
  store: choiceOption(LOG_STORES, 'kubernetes', 'Where the logs are.'),
  limits,
  kubernetes,
  opensearch,
  victorialogs,
});
