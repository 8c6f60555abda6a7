// Creates the listeners from the configuration.
import type { Logger } from 'pino';
import type { ClusterAuthentication } from './authentication/authentication-config.ts';
import type { CompletedConfig } from './config.ts';
import type { RequestChain } from './filters/chain.ts';
import type { StartableSource } from './listener/certificates/certificate-choice.ts';
import type { Proxies } from './listener/connection-limit.ts';
import { newInsecureListener } from './listener/insecure-listener.ts';
import { type Listener, REQUEST_LIMITS, type RequestReceiver } from './listener/listener.ts';
import type { ListenerMetrics } from './listener/listener-metrics.ts';
import { SecureListener } from './listener/secure-listener.ts';

export interface ListeningDependencies {
  readonly chain: RequestChain;
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
  { chain, certificates, settings, proxies, metrics, log, signal }: ListeningDependencies,
): Promise<readonly [SecureListener, ...Listener[]]> {
  const receiver = (isSecure: boolean): RequestReceiver => ({
    request: (request, response) => chain.serve(request, response, isSecure),
    upgrade: (request, socket, head) => chain.serveUpgrade(request, socket, head, isSecure),
  });
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
