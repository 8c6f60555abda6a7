// Generates the Markdown table of the limits that are constants of the server.

import { LIST_HISTORY, READ_WAIT_MS, WATCH_WINDOW } from '../../server/cache/informer.ts';
import { REQUEST_TIMEOUT_MS } from '../../server/filters/deadline.ts';
import { MAX_BODY_BYTES } from '../../server/filters/request-checks.ts';
import { REQUEST_LIMITS } from '../../server/listener/listener.ts';
import { DEFAULT_OPTIONS } from '../../server/rest/resource-handler.ts';
import { table } from './markdown-table.ts';

const { watch } = DEFAULT_OPTIONS;

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
  const [unit, size] = units.find(([, size]) => milliseconds > size && milliseconds % size === 0) ?? [
    'ms',
    1,
  ];
  return `${milliseconds / size} ${unit}`;
}
