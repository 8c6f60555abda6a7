import { Counter, Gauge, type Registry } from 'prom-client';
import type { ListenerName } from './listener-name.ts';

/** What the listeners count. */
export interface ListenerMetrics {
  opened(listener: ListenerName): void;
  closed(listener: ListenerName): void;
  dropped(listener: ListenerName): void;
  malformed(listener: ListenerName, code: number): void;
  handshakeFailed(): void;
}

export function newListenerMetrics(registry: Registry): ListenerMetrics {
  const registers = [registry];
  const connections = new Gauge({
    name: 'apiserver_open_connections',
    help: 'Connections that are open now.',
    labelNames: ['listener'],
    registers,
  });
  const dropped = new Counter({
    name: 'apiserver_dropped_connections_total',
    help: 'Connections that were closed at once because too many were open.',
    labelNames: ['listener'],
    registers,
  });
  const malformed = new Counter({
    name: 'apiserver_malformed_requests_total',
    help: 'Requests that could not be read: no HTTP, too large headers, too slow, or too many at a time on one connection.',
    labelNames: ['listener', 'code'],
    registers,
  });
  const handshakes = new Counter({
    name: 'apiserver_tls_handshake_errors_total',
    help: 'TLS handshakes that failed.',
    registers,
  });
  return {
    opened: (listener) => connections.inc({ listener }),
    closed: (listener) => connections.dec({ listener }),
    dropped: (listener) => dropped.inc({ listener }),
    malformed: (listener, code) => malformed.inc({ listener, code: String(code) }),
    handshakeFailed: () => handshakes.inc(),
  };
}
