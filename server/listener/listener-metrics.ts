// Prometheus metrics of the listeners, such as connections, malformed requests and failed TLS handshakes.
import { Counter, Gauge, type Registry } from 'prom-client';

/** `secure`: the TLS listener. `insecure`: the plain-HTTP listener. Also used in the configuration, the log and metric labels. */
export type ListenerName = 'secure' | 'insecure';

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
    help: 'Open connections.',
    labelNames: ['listener'],
    registers,
  });
  const dropped = new Counter({
    name: 'apiserver_dropped_connections_total',
    help: 'Connections closed beyond listeners.limits.connections.',
    labelNames: ['listener'],
    registers,
  });
  const malformed = new Counter({
    name: 'apiserver_malformed_requests_total',
    help: 'Requests rejected as invalid, too large, too slow, or pipelined.',
    labelNames: ['listener', 'code'],
    registers,
  });
  const handshakes = new Counter({
    name: 'apiserver_tls_handshake_errors_total',
    help: 'Failed TLS handshakes.',
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
