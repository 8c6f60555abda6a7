// Starts real listeners on loopback ports, and opens raw client sockets, for unit tests.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import type { Registry } from 'prom-client';
import {
  type CertificateMetrics,
  newCertificateMetrics,
} from '../../../../server/listener/certificates/certificate-metrics.ts';
import { IssuedCertificate } from '../../../../server/listener/certificates/issued-certificate.ts';
import type { CertificateSource } from '../../../../server/listener/certificates/serving-certificate.ts';
import type { Proxies } from '../../../../server/listener/connection-limit.ts';
import { newInsecureListener } from '../../../../server/listener/insecure-listener.ts';
import type { Listener, ListenerLimits, RequestReceiver } from '../../../../server/listener/listener.ts';
import { newListenerMetrics } from '../../../../server/listener/listener-metrics.ts';
import { SecureListener } from '../../../../server/listener/secure-listener.ts';
import { createRegistry } from '../../../../server/observability/metrics.ts';

export const silent = pino({ level: 'silent' });

const limits: ListenerLimits = {
  connections: 100,
  headers: 256 * 1024,
  handshakeTimeout: 10_000,
  headersTimeout: 30_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 95_000,
};

const noProxies: Proxies = { hasAddress: () => false, hasCertificate: () => false };

export function certificateMetrics(): CertificateMetrics {
  return newCertificateMetrics(createRegistry());
}

const ok: RequestReceiver = {
  request: (_request, response) => response.end('ok'),
  upgrade: (_request, socket) => socket.destroy(),
};

/** Certificates of a CA in memory. */
export async function issuedInMemory(signal: AbortSignal): Promise<IssuedCertificate> {
  const certificates = new IssuedCertificate({
    names: ['localhost', '127.0.0.1'],
    secret: undefined,
    log: silent,
    metrics: certificateMetrics(),
  });
  await certificates.start(signal);
  return certificates;
}

export interface Listening {
  readonly port?: number;
  readonly receiver?: Partial<RequestReceiver>;
  readonly limits?: Partial<ListenerLimits>;
  readonly proxies?: Proxies;
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3';
  /** The registry of the listener's metrics. */
  readonly registry?: Registry;
}

/** All listeners that no test has stopped. */
const started = new Set<Listener>();

export async function listenInsecure(settings: Listening = {}): Promise<Listener> {
  const listener = newInsecureListener(options(settings));
  await listener.listen();
  started.add(listener);
  return listener;
}

export async function listenSecure(
  certificates: CertificateSource,
  settings: Listening = {},
): Promise<SecureListener> {
  const { minVersion = 'TLSv1.2' } = settings;
  const listener = new SecureListener({ ...options(settings), certificates, minVersion });
  await listener.listen();
  started.add(listener);
  return listener;
}

function options(settings: Listening) {
  return {
    address: '127.0.0.1',
    port: settings.port ?? 0,
    limits: { ...limits, ...settings.limits },
    proxies: settings.proxies ?? noProxies,
    receiver: { ...ok, ...settings.receiver },
    metrics: newListenerMetrics(settings.registry ?? createRegistry()),
    log: silent,
  };
}

/** For a group of tests: stops all listeners after each test. */
export function stopListenersEach(): void {
  afterEach(async () => {
    await Promise.all([...started].map(stop));
  });
}

/** Stops a listener and destroys its connections. */
export async function stop(listener: Listener): Promise<void> {
  started.delete(listener);
  listener.stopAccepting();
  listener.destroyConnections();
  await listener.closed;
}

export async function open(listener: Listener): Promise<Socket> {
  const socket = connect(listener.address.port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** Reads until the connection is closed or reset. */
export async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  socket.on('error', () => undefined);
  await once(socket, 'close');
  return text;
}
