// Creates the listeners from the configuration.
import type { Logger } from 'pino';
import type { ClusterAuthentication } from '../authentication/authentication-config.ts';
import type { CompletedConfig } from '../config/config.ts';
import type { StartableSource } from './certificates/certificate-choice.ts';
import type { Proxies } from './connection-limit.ts';
import { newInsecureListener } from './insecure-listener.ts';
import { type Listener, REQUEST_LIMITS, type RequestReceiver } from './listener.ts';
import type { ListenerMetrics } from './listener-metrics.ts';
import { SecureListener } from './secure-listener.ts';

interface ListeningDependencies {
  /** Returns the receiver of the requests of the TLS listener (true), or of the plain-HTTP listener (false). */
  readonly receiver: (secure: boolean) => RequestReceiver;
  readonly certificates: StartableSource;
  /** The source of the CAs that TLS handshakes announce for client certificates. */
  readonly settings: ClusterAuthentication;
  readonly proxies: Proxies;
  readonly metrics: ListenerMetrics;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Opens all listeners, and returns them with the TLS listener first. If one cannot open, closes all and throws StartupError. */
export async function listen(
  { listeners: { secure, insecure, limits } }: Pick<CompletedConfig, 'listeners'>,
  { receiver, certificates, settings, proxies, metrics, log, signal }: ListeningDependencies,
): Promise<readonly [SecureListener, ...Listener[]]> {
  const shared = { limits: { ...REQUEST_LIMITS, ...limits }, proxies, metrics, log };
  const tls = new SecureListener({
    ...shared,
    address: secure.address,
    port: secure.port,
    minVersion: secure.minVersion,
    receiver: receiver(true),
    certificates,
  });
  const unsubscribe = settings.subscribe(() => tls.setClientCAs(settings.clientCAs()));
  signal.addEventListener('abort', unsubscribe, { once: true });
  const { address, port } = insecure;
  const plain = insecure.enabled
    ? [newInsecureListener({ ...shared, address, port, receiver: receiver(false) })]
    : [];
  const listeners = [tls, ...plain] as const;
  try {
    for (const listener of listeners) {
      const bound = await listener.listen();
      log.info({ listener: listener.name, address: bound.address, port: bound.port }, 'listening');
    }
  } catch (error) {
    for (const listener of listeners) listener.stopAccepting();
    throw error;
  }
  return listeners;
}
