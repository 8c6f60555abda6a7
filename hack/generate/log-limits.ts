// Limits of log queries, exports and live tails.
import { MAX_NAMES, MAX_NAMESPACES } from '../../apis/logging/v1alpha2/log-query.ts';
import { MAX_JSON_DEPTH } from '../../apis/reading/bounded-json.ts';
import { POD_LOG_LIMITS } from '../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import { MAX_TEXT_BYTES } from '../../server/logging/backends/opensearch/search-hit.ts';
import { BUFFERED_RESPONSES, LOG_LIMITS } from '../../server/logging/endpoints/logs-handler.ts';
import { bytes, count, type Limit, time } from './limit.ts';

export const LOG_ROWS: readonly Limit[] = [
  [
    'concurrent log queries',
    `${LOG_LIMITS.concurrentQueries}`,
    `${LOG_LIMITS.queuedQueries} more wait for ${time(LOG_LIMITS.queueTimeout)}; then 429`,
  ],
  [
    'concurrent exports; live tails',
    `${LOG_LIMITS.concurrentExports}; ${LOG_LIMITS.concurrentFollowers}`,
    '[preemption](#fair-shares), or 429',
  ],
  ['duration of a log query', time(LOG_LIMITS.queryTimeout), 'a partial result'],
  [
    'duration, lines of an export',
    `${time(LOG_LIMITS.exportTimeout)}, ${count(LOG_LIMITS.exportLines)}`,
    '[incomplete](log-export-and-follow.md#incomplete-exports)',
  ],
  ['duration of a live tail', time(LOG_LIMITS.followTimeout), 'it ends'],
  ['namespaces of a query; names of another list', `${count(MAX_NAMESPACES)}; ${count(MAX_NAMES)}`, '400'],
  ['buckets of a histogram', `${count(LOG_LIMITS.buckets)}, of a day or longer 2,000`, '400'],
  [
    'responses that wait for slow clients',
    bytes(BUFFERED_RESPONSES.bytes),
    `the client that has not read for the longest time, at least ${time(BUFFERED_RESPONSES.protectedMs)}, is disconnected`,
  ],
  ['containers of a query of pod logs', `${POD_LOG_LIMITS.maxContainers}`, 'a partial result'],
  [
    'container logs that are read at a time',
    `${POD_LOG_LIMITS.concurrentReads}; one caller half of them`,
    'they wait',
  ],
  [
    'container logs that live tails follow',
    `${count(POD_LOG_LIMITS.followedLogs)}; one caller half of them`,
    '429',
  ],
  [
    'container log that a query reads',
    bytes(POD_LOG_LIMITS.bytesPerContainer),
    'as much of its start and of its end; exports read the whole log',
  ],
  [
    'lines of pod logs in memory',
    `${bytes(POD_LOG_LIMITS.memory)}; one request half of it`,
    'a partial result or 503',
  ],
  [
    'line of an OpenSearch document; levels of the document',
    `${bytes(MAX_TEXT_BYTES)} of JSON; ${count(MAX_JSON_DEPTH)}`,
    'truncated; an empty line',
  ],
];
