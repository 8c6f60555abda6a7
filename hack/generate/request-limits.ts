// Limits of connections, requests and watches.
import { MAX_DETAIL, MAX_MESSAGE as MAX_ERROR } from '../../apis/meta/v1/errors.ts';
import { MAX_REQUIREMENTS } from '../../apis/meta/v1/label-selector-parser.ts';
import { MAX_CAUSES } from '../../apis/meta/v1/validation-causes.ts';
import { GATEWAY_STREAMS, WAIT_MS } from '../../server/admission/admission.ts';
import { LIST_HISTORY, READ_WAIT_MS, WATCH_WINDOW } from '../../server/cache/informer.ts';
import { REQUEST_TIMEOUT_MS } from '../../server/filters/deadline.ts';
import { MAX_BODY_BYTES } from '../../server/filters/request-checks.ts';
import { REVIEW_INTERVAL_MS } from '../../server/gateway/acceleration/accelerator.ts';
import { MAX_REQUESTED } from '../../server/gateway/impersonation.ts';
import { MAX_CLAUSES } from '../../server/http/accept.ts';
import { HIGH_WATER, MAX_TAGS } from '../../server/http/response-writer.ts';
import { MAX_MESSAGE, MAX_WAITING } from '../../server/http/web-socket.ts';
import { MAX_PIPELINED } from '../../server/listener/connections.ts';
import { MAX_TOTAL_BYTES } from '../../server/listener/incomplete-requests.ts';
import { REQUEST_LIMITS } from '../../server/listener/listener.ts';
import { MAX_HEADER_FIELDS } from '../../server/listener/malformed-request.ts';
import { MAX_CHUNKS, MIN_MEAN_BYTES } from '../../server/listener/tiny-chunks.ts';
import { MAX_PARAMETERS } from '../../server/request/request-path.ts';
import { DEFAULT_OPTIONS } from '../../server/rest/resource-handler.ts';
import { MAX_CALLS } from '../../server/tracing/request-trace.ts';
import { REQUESTED_SAMPLES } from '../../server/tracing/sampler.ts';
import { FLUSH_MS, MAX_WAITING as MAX_SPANS } from '../../server/tracing/span-exporter.ts';
import { bytes, count, type Limit, time } from './limit.ts';

const { watch } = DEFAULT_OPTIONS;
const CLOSES = 'the connection closes';

export const REQUEST_ROWS: readonly Limit[] = [
  ['wait of a request for a [seat](#fair-shares)', time(WAIT_MS), '429 with `Retry-After: 1`'],
  ['headers of a request', `${bytes(REQUEST_LIMITS.headers)}, ${count(MAX_HEADER_FIELDS)} headers`, '431'],
  [
    'incomplete headers of all connections of a port',
    bytes(MAX_TOTAL_BYTES),
    'the connections with the most data close',
  ],
  ['query parameters', count(MAX_PARAMETERS), '400'],
  [
    'body of a request',
    bytes(MAX_BODY_BYTES),
    '413; streams and proxy requests of the gateway have no limit',
  ],
  [
    'chunks of a body that arrive together, with a mean below the bytes',
    `${count(MAX_CHUNKS)}, ${MIN_MEAN_BYTES} bytes`,
    CLOSES,
  ],
  ['TLS handshake', time(REQUEST_LIMITS.handshakeTimeout), CLOSES],
  ['time to send the headers', time(REQUEST_LIMITS.headersTimeout), `408, and ${CLOSES}`],
  [
    'time to send the request, uploads through a proxy path included',
    time(REQUEST_LIMITS.requestTimeout),
    `408, and ${CLOSES}; upgrades such as \`kubectl cp\` have no limit`,
  ],
  ['duration of a request that is not a stream', time(REQUEST_TIMEOUT_MS), '504'],
  ['idle connection', time(REQUEST_LIMITS.keepAliveTimeout), CLOSES],
  [
    'pipelined requests of a connection, and their headers together',
    `${MAX_PIPELINED}, ${bytes(REQUEST_LIMITS.headers)}`,
    CLOSES,
  ],
  ['requirements of a selector', count(MAX_REQUIREMENTS), '400'],
  [
    'alternatives of `Accept` and `Accept-Encoding`; tags of `If-None-Match`',
    `${MAX_CLAUSES}; ${MAX_TAGS}`,
    'the rest is ignored',
  ],
  [
    'validation errors of a response; characters of a message; of a name in `details`',
    `${MAX_CAUSES}; ${count(MAX_ERROR)}; ${count(MAX_DETAIL)}`,
    'further errors, and the middle of the text, are omitted',
  ],
  [
    'impersonated groups and extra fields of a request of `kubectl --as` with [`gateway.impersonation`](gateway.md#impersonation)',
    `${MAX_REQUESTED}`,
    '400',
  ],
  [
    'concurrent streams of the gateway, without a lower `requests.streams`',
    count(GATEWAY_STREAMS),
    'as for `requests.streams`',
  ],
  ['part of a list that waits for a slow client', bytes(HIGH_WATER), 'less with more than 32 such lists'],
  [
    'wait of a read for its `resourceVersion`',
    time(READ_WAIT_MS),
    '504 with the cause `ResourceVersionTooLarge`',
  ],
  [
    'past events of a kind, from which a watch can resume',
    `${count(WATCH_WINDOW.events)}, ${time(WATCH_WINDOW.ageMs)}, ${bytes(WATCH_WINDOW.bytes)}`,
    'an event with the error 410 `Expired`; clients relist',
  ],
  [
    'past lists of a kind, which serve `continue` tokens',
    `${count(LIST_HISTORY.snapshots)}, ${time(LIST_HISTORY.ageMs)}, ${bytes(LIST_HISTORY.bytes)} of objects that changed since`,
    '410 `Expired`; clients relist',
  ],
  ['events that wait for one watch client', bytes(watch.maxPendingBytes), `${CLOSES} for this client`],
  [
    'initial events of a WatchList that wait for slow clients, all together',
    bytes(watch.maxInitialBytes),
    'one object waits for each client',
  ],
  ['time in which a watch client reads nothing', time(watch.stallTimeoutMs), CLOSES],
  [
    'message of a client of a watch over WebSocket; data before a pong',
    `${bytes(MAX_MESSAGE)}; ${bytes(MAX_WAITING)}`,
    'code 1009; no pong until the client reads. Messages are ignored',
  ],
  [
    'duration of a watch without `timeoutSeconds`',
    `${time(watch.minTimeoutSeconds * 1000)}, up to twice as long`,
    'the watch ends, and the client resumes it',
  ],
  ['interval of bookmarks', time(watch.bookmarkIntervalMs), '—'],
  [
    'interval of the reviews of a watch that is served from a cache',
    time(REVIEW_INTERVAL_MS),
    'the watch ends with 410 when the permission is lost',
  ],
  [
    '[traces](metrics.md#traces) that callers request, per second of one caller and of all',
    `${REQUESTED_SAMPLES.caller}, ${REQUESTED_SAMPLES.all}`,
    'sampled at `tracing.samplingRatePerMillion`, as without the request',
  ],
  ['spans of the calls of one request to other servers', count(MAX_CALLS), 'no span of their own'],
  [
    'spans that wait for the collector; time of the last exports at the stop',
    `${count(MAX_SPANS)}; ${time(FLUSH_MS)}`,
    'spans are dropped',
  ],
];
