// The JSON Schema of the configuration section `logging`: query limits and options of each log store.
import {
  choiceOption,
  countOption,
  flagOption,
  namesOption,
  pathOption,
  section,
  textOption,
} from './option-types.ts';

export const LOG_STORES = ['kubernetes', 'opensearch', 'victorialogs'] as const;

const fields = {
  namespace: textOption('kubernetes.namespace_name', 'Field with the namespace.'),
  pod: textOption('kubernetes.pod_name', 'Field with the pod.'),
  container: textOption('kubernetes.container_name', 'Field with the container.'),
  containerID: textOption('kubernetes.docker_id', 'Field with the container ID.'),
};

const credentials = {
  username: textOption('', 'User name.'),
  passwordFile: pathOption('File with the password of `username`.'),
  caFile: pathOption('CA bundle of the store.'),
};

const opensearch = section('OpenSearch 2 and 3, and Elasticsearch 8.', {
  urls: namesOption('URLs of the OpenSearch nodes, `https://…`.'),
  ...credentials,
  apiKeyFile: pathOption('File with an API key (base64 of `id:key`), instead of user name and password.'),
  indexPrefix: textOption('ks-logstash-log', 'Prefix of the index names.'),
  dailyIndices: flagOption(
    true,
    'One index per day (UTC), `<indexPrefix>-YYYY.MM.DD`. `false`: all indices with the prefix.',
  ),
  fields: section('Field names.', {
    time: textOption('time', 'Field with the time.'),
    message: textOption('log', 'Field with the line.'),
    ...fields,
  }),
});

const victorialogs = section('VictoriaLogs.', {
  url: textOption('', 'URL of the store, `https://…`.'),
  ...credentials,
  bearerTokenFile: pathOption('File with a bearer token, instead of user name and password.'),
  accountID: countOption(0, '`AccountID` of the VictoriaLogs tenant.', 0),
  projectID: countOption(0, '`ProjectID` of the VictoriaLogs tenant.', 0),
  fields: section('Field names.', fields),
});

export const logging = section('Log queries.', {
  enabled: flagOption(true, 'Enables log queries.'),
  store: choiceOption(LOG_STORES, 'kubernetes', 'The log store.'),
  opensearch,
  victorialogs,
});
