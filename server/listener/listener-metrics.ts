import { Counter, Gauge, type Registry } from 'prom-client';
import type { ListenerName } from './listener-name.ts';

/** What the listeners count. */
export interface ListenerMetrics {
  opened(listener: ListenerName): void;
  closed(listener: ListenerName): void;
  dropped(listener: ListenerName): void;
  malformed(listener: ListenerName, code: number): void;
  handshakeFailed(): void;
  certificate(result: 'loaded' | 'refused'): void;
  certificateExpires(at: Date): void;
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
  const reloads = new Counter({
    name: 'apiserver_serving_certificate_reloads_total',
    help: 'Serving certificates that were taken into use, or refused because they were broken.',
    labelNames: ['result'],
    registers,
  });
  const expiry = new Gauge({
    name: 'apiserver_serving_certificate_expiration_timestamp_seconds',
    help: 'When the serving certificate expires, in seconds since the epoch.',
    registers,
  });
  return {
    opened: (listener) => connections.inc({ listener }),
    closed: (listener) => connections.dec({ listener }),
    dropped: (listener) => dropped.inc({ listener }),
    malformed: (listener, code) => malformed.inc({ listener, code: String(code) }),
    handshakeFailed: () => handshakes.inc(),
    certificate: (result) => reloads.inc({ result }),
    certificateExpires: (at) => expiry.set(at.getTime() / 1000),
  };
}
