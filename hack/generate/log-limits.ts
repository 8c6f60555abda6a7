// Limits of log queries, exports and live tails.
import { MAX_NAMESPACES } from '../../apis/logging/v1alpha2/log-query.ts';
import { POD_LOG_LIMITS } from '../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import { EXPORT_PAGE } from '../../server/logging/backends/opensearch/export.ts';
import { BUFFERED_RESPONSES, LOG_LIMITS } from '../../server/logging/endpoints/logs-handler.ts';
import { bytes, count, type Limit, time } from './limit.ts';

const PREEMPTS = 'a new one [preempts](#fair-shares) one of the caller with the most; else 429';
const TRUNCATED = 'the export is truncated, and marked as truncated';

export const LOG_ROWS: readonly Limit[] = [
  [
    'concurrent log queries',
    `${LOG_LIMITS.concurrentQueries}`,
    `${LOG_LIMITS.queuedQueries} more wait for ${time(LOG_LIMITS.queueTimeout)}; then 429`,
  ],
  ['concurrent exports', `${LOG_LIMITS.concurrentExports}`, PREEMPTS],
  ['concurrent live tails', `${LOG_LIMITS.concurrentFollowers}`, PREEMPTS],
  ['duration of a log query', time(LOG_LIMITS.queryTimeout), 'a partial result'],
  ['duration of an export', time(LOG_LIMITS.exportTimeout), TRUNCATED],
  ['lines of an export', count(LOG_LIMITS.exportLines), TRUNCATED],
  ['duration of a live tail', time(LOG_LIMITS.followTimeout), 'it ends, and the client reconnects'],
  [
    'overlap of a resumed live tail',
    time(LOG_LIMITS.followOverlap),
    'a line that reaches the store later is missing',
  ],
  ['namespaces of a query', count(MAX_NAMESPACES), '400'],
  ['buckets of a histogram', `${count(LOG_LIMITS.buckets)}, of a day or longer 2,000`, '400'],
  [
    'responses that wait for slow clients, all together',
    bytes(BUFFERED_RESPONSES.bytes),
    `the client that has not read for the longest time is disconnected, after at least ${time(BUFFERED_RESPONSES.protectedMs)}`,
  ],
  [
    'containers whose pod logs a query reads',
    `${POD_LOG_LIMITS.maxContainers}`,
    'the response lists the omitted containers',
  ],
  [
    'container logs that queries and exports read concurrently',
    `${POD_LOG_LIMITS.concurrentReads}; one caller half of them`,
    'they wait',
  ],
  [
    'container logs that live tails follow',
    `${count(POD_LOG_LIMITS.followedLogs)}; one caller half of them`,
    '429',
  ],
  [
    'container log that a query reads completely',
    bytes(POD_LOG_LIMITS.bytesPerContainer),
    'this much of the start and of the end; exports read the whole log',
  ],
  [
    'lines of pod logs in memory, for all queries, exports and live tails',
    `${bytes(POD_LOG_LIMITS.memory)}; one request half of it`,
    'a partial result or 503',
  ],
  ['lines of a page that an export requests from OpenSearch', count(EXPORT_PAGE), '—'],
];
