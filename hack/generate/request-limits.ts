// Limits of connections, requests and watches.
import { MAX_DETAIL, MAX_MESSAGE as MAX_ERROR } from '../../apis/meta/v1/errors.ts';
import { MAX_REQUIREMENTS } from '../../apis/meta/v1/label-selector-parser.ts';
import { MAX_CAUSES } from '../../apis/meta/v1/validation-causes.ts';
import { GATEWAY_STREAMS, WAIT_MS } from '../../server/admission/admission.ts';
import { LIST_HISTORY, READ_WAIT_MS, WATCH_WINDOW } from '../../server/cache/informer.ts';
import { REQUEST_TIMEOUT_MS } from '../../server/filters/deadline.ts';
import { MAX_BODY_BYTES } from '../../server/filters/request-checks.ts';
import { CREDENTIAL_INTERVAL_MS, SESSION_INTERVAL_MS } from '../../server/filters/stream-termination.ts';
import { REVIEW_INTERVAL_MS } from '../../server/gateway/acceleration/accelerator.ts';
import { MAX_REQUESTED } from '../../server/gateway/impersonation.ts';
import { MAX_MESSAGE, MAX_WAITING } from '../../server/http/web-socket.ts';
import { MAX_PIPELINED } from '../../server/listener/connections.ts';
import { MAX_TOTAL_BYTES } from '../../server/listener/incomplete-requests.ts';
import { REQUEST_LIMITS } from '../../server/listener/listener.ts';
import { MAX_HEADER_FIELDS } from '../../server/listener/malformed-request.ts';
import { MAX_CHUNKS, MIN_MEAN_BYTES } from '../../server/listener/tiny-chunks.ts';
import { MAX_PARAMETERS } from '../../server/request/request-path.ts';
import { DEFAULT_OPTIONS } from '../../server/rest/resource-handler.ts';
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
    'those with the most data close',
  ],
  ['query parameters', count(MAX_PARAMETERS), '400'],
  ['body of a request', bytes(MAX_BODY_BYTES), '413, except for streams and `proxy`'],
  [
    'small chunks of a body that arrive together',
    `${count(MAX_CHUNKS)}, with a mean below ${MIN_MEAN_BYTES} bytes`,
    CLOSES,
  ],
  ['TLS handshake', time(REQUEST_LIMITS.handshakeTimeout), CLOSES],
  [
    'time to send the headers; the request, also through `proxy`',
    `${time(REQUEST_LIMITS.headersTimeout)}; ${time(REQUEST_LIMITS.requestTimeout)}`,
    `408, and ${CLOSES}, except of upgrades`,
  ],
  ['duration of a request that is not a stream', time(REQUEST_TIMEOUT_MS), '504'],
  ['idle connection', time(REQUEST_LIMITS.keepAliveTimeout), CLOSES],
  [
    'pipelined requests of a connection, and their headers together',
    `${MAX_PIPELINED}, ${bytes(REQUEST_LIMITS.headers)}`,
    CLOSES,
  ],
  ['requirements of a selector; values of a label selector', `${count(MAX_REQUIREMENTS)} each`, '400'],
  [
    'validation errors of a response; characters of a message; of a name',
    `${MAX_CAUSES}; ${count(MAX_ERROR)}; ${count(MAX_DETAIL)}`,
    'further errors, and the middle of a text, are omitted',
  ],
  [
    'groups and extra fields of `kubectl --as` with [`gateway.impersonation`](gateway.md#impersonation)',
    `${MAX_REQUESTED}`,
    '400',
  ],
  [
    'streams of the gateway, without a lower `requests.streams`',
    count(GATEWAY_STREAMS),
    'as for `requests.streams`',
  ],
  ['wait for a `resourceVersion`', time(READ_WAIT_MS), '504 with `ResourceVersionTooLarge`'],
  [
    'past events of a kind, for watches that resume',
    `${count(WATCH_WINDOW.events)}, ${time(WATCH_WINDOW.ageMs)}, ${bytes(WATCH_WINDOW.bytes)}`,
    '410 `Expired`; clients relist',
  ],
  [
    'past lists of a kind, for `continue` tokens',
    `${count(LIST_HISTORY.snapshots)}, ${time(LIST_HISTORY.ageMs)}, ${bytes(LIST_HISTORY.bytes)} of changed objects`,
    '410 `Expired`; clients relist',
  ],
  ['events that wait for one watch client', bytes(watch.maxPendingBytes), CLOSES],
  ['time in which a watch client reads nothing', time(watch.stallTimeoutMs), CLOSES],
  [
    'message of a watch client over WebSocket; data before a pong',
    `${bytes(MAX_MESSAGE)}; ${bytes(MAX_WAITING)}`,
    'code 1009; no pong until the client reads',
  ],
  [
    'duration of a watch without `timeoutSeconds`',
    `${time(watch.minTimeoutSeconds * 1000)}, up to twice as long`,
    'the watch ends',
  ],
  [
    'interval of the reviews of an accelerated watch',
    time(REVIEW_INTERVAL_MS),
    'the watch ends with 410 without the permission',
  ],
  [
    'interval of the checks of sessions; of other tokens and certificates, except for streams of the gateway',
    `${time(SESSION_INTERVAL_MS)}; ${time(CREDENTIAL_INTERVAL_MS)}`,
    'the stream of a revoked one ends',
  ],
  [
    '[traces](metrics.md#traces) that one caller requests per second; that all request',
    `${REQUESTED_SAMPLES.caller}; ${REQUESTED_SAMPLES.all}`,
    'sampled at `tracing.samplingRatePerMillion`',
  ],
  [
    'spans that wait for the collector; time of the last export',
    `${count(MAX_SPANS)}; ${time(FLUSH_MS)}`,
    'spans are dropped',
  ],
];
