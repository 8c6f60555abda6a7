// The TypeBox schema of the configuration section `logging`: the log store, its connection and its fields.
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

const opensearch = section('Indices of OpenSearch 2 and 3, and Elasticsearch 8.', {
  indexPrefix: textOption('ks-logstash-log', 'Prefix of the index names.'),
  dailyIndices: flagOption(
    true,
    'One index per day (UTC), `<indexPrefix>-YYYY.MM.DD`. `false`: all indices with the prefix.',
  ),
});

const victorialogs = section('The tenant of VictoriaLogs.', {
  accountID: countOption(0, '`AccountID` of the VictoriaLogs tenant.', 0),
  projectID: countOption(0, '`ProjectID` of the VictoriaLogs tenant.', 0),
});

// The collector determines the names, such as Fluent Bit, Filebeat, Vector or OpenTelemetry.
const fields = section('Field names.', {
  time: textOption('time', 'Field with the time, of OpenSearch.'),
  message: textOption('', 'Field with the line. Empty: `log` of OpenSearch, `_msg` of VictoriaLogs.'),
  namespace: textOption('kubernetes.namespace_name', 'Field with the namespace.'),
  pod: textOption('kubernetes.pod_name', 'Field with the pod.'),
  container: textOption('kubernetes.container_name', 'Field with the container.'),
  containerID: textOption('kubernetes.docker_id', 'Field with the container ID.'),
});

export const logging = section('Log queries.', {
  enabled: flagOption(true, 'Enables log queries.'),
  store: choiceOption(LOG_STORES, 'kubernetes', 'The log store.'),
  urls: namesOption('URLs of the OpenSearch nodes, or the URL of VictoriaLogs, `https://…`.'),
  username: textOption('', 'User name at the store.'),
  passwordFile: pathOption('File with the password of `username`.'),
  tokenFile: pathOption(
    'File with an API key of OpenSearch (base64 of `id:key`) or a bearer token of VictoriaLogs, instead of user name and password.',
  ),
  caFile: pathOption('CA bundle of the store.'),
  opensearch,
  victorialogs,
  fields,
});
