// Generates the Markdown table of the limits that are constants of the server.

import {
  GATEWAY_STREAMS,
  LOOKUP_WAIT_MS,
  LOOKUPS,
  NAMESPACE_REVIEWS,
  WAITING_LOOKUPS,
} from '../../server/admission/admission.ts';
import { LIST_HISTORY, READ_WAIT_MS, WATCH_WINDOW } from '../../server/cache/informer.ts';
import { MAX_REFUSAL_MS } from '../../server/cluster/reviews.ts';
import { REQUEST_TIMEOUT_MS } from '../../server/filters/deadline.ts';
import { MAX_BODY_BYTES } from '../../server/filters/request-checks.ts';
import { REVIEW_INTERVAL_MS } from '../../server/gateway/acceleration/accelerator.ts';
import { REQUEST_LIMITS } from '../../server/listener/listener.ts';
import { LIVE_INTERVAL_MS } from '../../server/lists/lists.ts';
import { POD_LOG_LIMITS } from '../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import { EXPORT_PAGE } from '../../server/logging/backends/opensearch/export.ts';
import { LOG_LIMITS } from '../../server/logging/endpoints/logs-handler.ts';
import { PUBLISH_AHEAD_MS } from '../../server/oauth/keys/key-rotator.ts';
import { HASH_QUEUE, PASSWORD_HASH } from '../../server/oauth/passwords/password-hasher.ts';
import { SESSIONS_PER_USER } from '../../server/oauth/sessions/session-creator.ts';
import { THROTTLE } from '../../server/oauth/throttle/login-throttle.ts';
import { VERIFIED_TOKENS } from '../../server/oauth/tokens/token-verifier.ts';
import { KIND_LIMITS } from '../../server/resources/kinds/followed-kinds-options.ts';
import { MAX_SELECTED, MAX_SELECTIONS } from '../../server/resources/lists/list-index.ts';
import { DEFAULT_OPTIONS } from '../../server/rest/resource-handler.ts';
import { table } from './markdown-table.ts';

const { watch } = DEFAULT_OPTIONS;

const FOLLOWED =
  'a kind of the caller who started the most is stopped, first one without live lists and the least recently used; a kind with live lists only for a caller who started at least two fewer, else 503';
const PREEMPTS =
  'the newest one of the caller with the most is preempted, if he has at least two more than the other caller; else 429';
const WAITING = `${WAITING_LOOKUPS.toLocaleString('en')} more wait for ${time(LOOKUP_WAIT_MS)}`;
const TRUNCATED = 'the export is truncated, and marked as truncated';

/** Limit, value, and the result for a client that reaches it. */
const ROWS: readonly (readonly [limit: string, value: string, result: string])[] = [
  ['headers of a request', bytes(REQUEST_LIMITS.headers), '431'],
  [
    'body of a request',
    bytes(MAX_BODY_BYTES),
    '413; streams and proxy requests of the gateway have no limit',
  ],
  ['TLS handshake', time(REQUEST_LIMITS.handshakeTimeout), 'the connection closes'],
  ['time to send the headers', time(REQUEST_LIMITS.headersTimeout), '408, and the connection closes'],
  [
    'time to send the request, uploads through a proxy path included',
    time(REQUEST_LIMITS.requestTimeout),
    '408, and the connection closes; upgrades such as `kubectl cp` have no limit',
  ],
  ['duration of a request that is not a stream', time(REQUEST_TIMEOUT_MS), '504'],
  ['idle connection', time(REQUEST_LIMITS.keepAliveTimeout), 'the connection closes'],
  [
    'wait of a read for its `resourceVersion`',
    time(READ_WAIT_MS),
    '504 with the cause `ResourceVersionTooLarge`',
  ],
  [
    'past events of a kind, from which a watch can resume',
    `${WATCH_WINDOW.events}, ${time(WATCH_WINDOW.ageMs)}, ${bytes(WATCH_WINDOW.bytes)}`,
    'a single event with the error 410 `Expired` for a watch from an older `resourceVersion`; clients relist',
  ],
  [
    'past lists of a kind, which serve `continue` tokens',
    `${LIST_HISTORY.snapshots}, ${time(LIST_HISTORY.ageMs)}, ${bytes(LIST_HISTORY.bytes)} of objects that changed since`,
    '410 `Expired` for an older token; clients relist',
  ],
  [
    'events that wait for one watch client',
    bytes(watch.maxPendingBytes),
    'the connection closes; other clients are not affected',
  ],
  ['time in which a watch client reads nothing', time(watch.stallTimeoutMs), 'the connection closes'],
  [
    'concurrent streams of the gateway, without a lower `requests.streams`',
    `${GATEWAY_STREAMS}`,
    'as for `requests.streams`',
  ],
  [
    'interval of the reviews of a watch that is served from a cache',
    time(REVIEW_INTERVAL_MS),
    'the watch ends with 410 when the permission is lost',
  ],
  [
    'time for which a failed TokenReview or a denial is cached',
    time(MAX_REFUSAL_MS),
    'a new token or permission takes effect',
  ],
  [
    'password hashes in computation',
    'the number of cores, and less than `UV_THREADPOOL_SIZE`',
    'sign-ins wait',
  ],
  [
    'sign-ins that wait for a password hash',
    `${HASH_QUEUE.length}, ${time(HASH_QUEUE.timeoutMs)}`,
    '503; half of the queue is reserved for users who have signed in from the same address before',
  ],
  [
    'memory and iterations of a password hash (argon2id)',
    `${bytes(PASSWORD_HASH.memory)}, ${PASSWORD_HASH.iterations}`,
    '—',
  ],
  [
    'failed sign-ins from an IPv4 address or IPv6 /64 before the first delay',
    `${THROTTLE.sourceFailures}`,
    'a delay of at most a minute',
  ],
  [
    'first delay after failed sign-ins',
    time(THROTTLE.delay),
    `each failure doubles it, up to ${time(THROTTLE.maxDelay)}; the number is reset after ${time(THROTTLE.reset)} without a failure`,
  ],
  [
    'accounts with failed sign-ins, and as many addresses',
    THROTTLE.entries.toLocaleString('en'),
    'the oldest ones are counted in groups, those without a delay first',
  ],
  [
    'TokenReviews, SubjectAccessReviews, and lookups of sessions, users and passwords at a time',
    `${LOOKUPS}`,
    WAITING,
  ],
  ['SubjectAccessReviews of the namespaces of lists at a time', `${NAMESPACE_REVIEWS}`, WAITING],
  [
    'combinations of namespaces, filters and sort key of a kind, whose sorted lists are kept and updated with changes',
    `${MAX_SELECTIONS}, with ${MAX_SELECTED.toLocaleString('en')} objects in all of them`,
    'the objects are sorted for each request; over `resources.memoryBudget`, these lists are released first',
  ],
  [
    'sessions of a user',
    `${SESSIONS_PER_USER}`,
    'a further sign-in terminates the least recently used session',
  ],
  [
    'access tokens whose verified signature is cached',
    VERIFIED_TOKENS.toLocaleString('en'),
    'further signatures are verified at each request; expiry and session always are',
  ],
  ['time from the publication of a signing key to its first signature', time(PUBLISH_AHEAD_MS), '—'],
  ['followed kinds', `${KIND_LIMITS.maxKinds}`, FOLLOWED],
  [
    'time without requests for a kind',
    time(KIND_LIMITS.idleTimeout),
    'the kind is not followed any more, unless `resources.preload` names it',
  ],
  [
    'wait of a request for the first list of a kind',
    time(KIND_LIMITS.syncTimeout),
    '503 with `Retry-After`; the list continues in the background',
  ],
  ['interval of the events of a live list', time(LIVE_INTERVAL_MS), 'the next event has the newest state'],
  [
    'concurrent log queries',
    `${LOG_LIMITS.concurrentQueries}`,
    `${LOG_LIMITS.queuedQueries} more wait for ${time(LOG_LIMITS.queueTimeout)}; then 429`,
  ],
  ['concurrent exports of logs', `${LOG_LIMITS.concurrentExports}`, PREEMPTS],
  ['concurrent live tails', `${LOG_LIMITS.concurrentFollowers}`, PREEMPTS],
  ['duration of a log query', time(LOG_LIMITS.queryTimeout), 'a partial result'],
  ['duration of an export', time(LOG_LIMITS.exportTimeout), TRUNCATED],
  ['lines of an export', LOG_LIMITS.exportLines.toLocaleString('en'), TRUNCATED],
  ['duration of a live tail', time(LOG_LIMITS.followTimeout), 'it ends, and the client reconnects'],
  [
    'overlap of a resumed live tail',
    time(LOG_LIMITS.followOverlap),
    'a line that reaches the store later, while the client is disconnected, is missing',
  ],
  ['buckets of a histogram', `${LOG_LIMITS.buckets.toLocaleString('en')}, of a day or longer 2,000`, '400'],
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
    `${POD_LOG_LIMITS.followedLogs.toLocaleString('en')}; one caller half of them`,
    '429',
  ],
  [
    'container log that a query reads completely',
    bytes(POD_LOG_LIMITS.bytesPerContainer),
    'about this many bytes at the start and at the end; exports read the whole log',
  ],
  [
    'lines of pod logs in memory, for all queries, exports and live tails',
    `${bytes(POD_LOG_LIMITS.memory)}; one request half of it`,
    'a partial result or 503',
  ],
  ['lines of a page that an export requests from OpenSearch', EXPORT_PAGE.toLocaleString('en'), '—'],
  ['interval of bookmarks', time(watch.bookmarkIntervalMs), '—'],
  [
    'duration of a watch without `timeoutSeconds`',
    `${time(watch.minTimeoutSeconds * 1000)}, up to twice as long`,
    'the watch ends, and the client resumes it',
  ],
];

export function fixedLimitsTable(): string {
  return table(
    ['limit', 'value', 'beyond the limit'],
    ROWS.map((row) => [...row]),
  );
}

function bytes(count: number): string {
  const [unit, size] = count >= 1 << 20 ? ['MiB', 1 << 20] : ['KiB', 1 << 10];
  return `${count / size} ${unit}`;
}

function time(milliseconds: number): string {
  const units = [
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1_000],
  ] as const;
  // A minute is 60 s, as in the options.
  const [unit, size] = units.find(
    ([unit, size]) => (unit === 's' || milliseconds > size) && milliseconds % size === 0,
  ) ?? ['ms', 1];
  return `${milliseconds / size} ${unit}`;
}
