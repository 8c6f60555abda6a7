// The composition root: makes every part, hands it what it needs by name, starts all and stops all in order.
// Decides nothing itself. Started by main.ts.
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { StartupError } from '../apis/config/v1alpha1/startup-error.ts';
import { apiServiceName, groupName } from '../apis/resources/v1alpha3/group-version.ts';
import { newAccess } from './access.ts';
import { readBuildInfo } from './build-info.ts';
import { Informer } from './cache/informer.ts';
import { ClusterConnection } from './cluster/connection.ts';
import { kubeConfigSource } from './cluster/kubeconfig.ts';
import type { CompletedConfig } from './config.ts';
import { discoveryHandlers } from './endpoints/discovery/discovery.ts';
import { healthHandler } from './endpoints/health.ts';
import { metricsHandler } from './endpoints/metrics.ts';
import { OpenAPI } from './endpoints/openapi/openapi.ts';
import { DEFAULT_OPTIONS, resourceHandler } from './endpoints/rest/resource-handler.ts';
import { versionHandler } from './endpoints/version.ts';
import { auditLog } from './filters/audit-log.ts';
import { RequestChain } from './filters/chain.ts';
import type { Handler } from './filters/request-context.ts';
import { healthRegistries } from './health-checks.ts';
import { chooseCertificate } from './listener/certificate-choice.ts';
import { drain } from './listener/drain.ts';
import { watchExpiry } from './listener/expiry-warning.ts';
import { newInsecureListener } from './listener/insecure-listener.ts';
import type { Listener } from './listener/listener.ts';
import { newListenerMetrics } from './listener/listener-metrics.ts';
import { SecureListener } from './listener/secure-listener.ts';
import { CacheMetrics } from './observability/cache-metrics.ts';
import { createLogger } from './observability/logger.ts';
import { collectProcessMetrics, createRegistry } from './observability/metrics.ts';
import { RequestMetrics } from './observability/request-metrics.ts';
import { WatchMetrics } from './observability/watch-metrics.ts';
import { Registration } from './registration/registration.ts';
import { collectRegistrationMetrics } from './registration/registration-metrics.ts';
import { nodeDefinition } from './resources/nodes/definition.ts';
import type { NodeFacts } from './resources/nodes/facts.ts';
import { routes } from './routes.ts';

/**
 * Serves until `stop` is aborted, then drains. Throws StartupError when it can not start; whatever happens to the
 * cluster afterwards does not end it.
 */
export async function run(
  config: CompletedConfig,
  stop: AbortSignal,
  log: Logger = createLogger(config.log),
): Promise<void> {
  // What feeds the answers goes on until the last of them is sent, so it ends with a signal of its own.
  const work = new AbortController();
  const running: Promise<void>[] = [];
  try {
    const server = await start(config, log, work.signal, running);
    await aborted(stop);
    await server.drain();
  } finally {
    work.abort(new Error('the server has stopped'));
    await Promise.all(running);
    log.info('stopped');
    log.flush();
  }
}

interface StartedServer {
  drain(): Promise<void>;
}

async function start(
  config: CompletedConfig,
  log: Logger,
  signal: AbortSignal,
  running: Promise<void>[],
): Promise<StartedServer> {
  const { environment, platform } = config;
  const kubeConfig = findKubeConfig(config.kubernetes.kubeconfig);
  const { version } = await readBuildInfo();
  const metrics = createRegistry();
  collectProcessMetrics(metrics, version);
  const listenerMetrics = newListenerMetrics(metrics);
  const certificates = chooseCertificate(config, { hostname: hostname(), log, metrics: listenerMetrics });
  await certificates.start(signal);
  watchExpiry(certificates, listenerMetrics, log, signal);

  const client = new ClusterConnection({
    kubeConfig,
    userAgent: `ks-apiserver/${version}`,
  });
  signal.addEventListener('abort', () => client.close(), { once: true });
  const access = newAccess(config, { client, log, signal });

  const nodes = nodeDefinition(groupName(platform.name));
  const { watchWindow, snapshots } = config.cache;
  const informer: Informer<NodeFacts> = new Informer({
    definition: nodes,
    client,
    log: log.child({ resource: nodes.plural }),
    window: { events: watchWindow.events, ageMs: watchWindow.age, bytes: watchWindow.bytes },
    waitMs: config.cache.readTimeout,
    history: { snapshots: snapshots.count, ageMs: snapshots.age, bytes: snapshots.bytes },
    observer: new CacheMetrics(metrics).observe(`${nodes.plural}.${nodes.group}`, () => ({
      synced: informer.cache.synced,
      watchers: informer.cache.watchers,
      size: informer.cache.synced ? informer.cache.snapshot().size : 0,
    })),
  });
  const registration = new Registration({
    apiServices: [apiServiceName(platform.name)],
    manageCABundle: config.registration.manageCABundle,
    sharedCA: config.listeners.secure.certFile !== '',
    client,
    servingCA: {
      current: () => certificates.current().ca,
      onChange: (listener) => certificates.onChange(listener),
    },
    log,
  });
  collectRegistrationMetrics(metrics, () => registration.trust());
  const openAPI = new OpenAPI({ resources: [nodes], title: 'ks-apiserver', version, client, log });

  let stopping = false;
  const health = healthRegistries({
    cacheSynced: () => informer.cache.synced,
    accessKnown: () => access.settings.current() !== undefined,
    describeFrontProxy: () => access.diagnosis.describe(),
    describeRegistration: () => registration.describe(),
    stopping: () => stopping,
  });
  const handler = routes({
    resources: [
      {
        prefix: 'apis',
        group: nodes.group,
        version: nodes.version,
        resource: nodes.plural,
        handler: resourceHandler(nodes, informer.cache, {
          ...DEFAULT_OPTIONS,
          watch: {
            ...DEFAULT_OPTIONS.watch,
            bookmarkIntervalMs: config.watch.bookmarkInterval,
            minTimeoutSeconds: config.watch.minTimeout / 1000,
            maxPendingBytes: config.watch.pendingBytes,
            stallTimeoutMs: config.watch.stallTimeout,
            observer: new WatchMetrics(metrics).observe(nodes),
          },
        }),
      },
    ],
    paths: new Map<string, Handler>([
      ...health.map((registry): [string, Handler] => [`/${registry.path}{/*check}`, healthHandler(registry)]),
      ...discoveryHandlers([nodes]),
      ...openAPI.handlers(),
      ['/version', versionHandler({ version, ...environment })],
      ['/metrics', metricsHandler(metrics)],
    ]),
  });
  const { requests } = config;
  const chain = new RequestChain({
    handler,
    authenticator: access.authenticator,
    identityHeaders: access.settings.identityHeaders,
    authorizer: access.authorizer,
    logger: log,
    metrics: new RequestMetrics(metrics),
    knownResource: (group, version, resource, subresource) =>
      group === nodes.group && version === nodes.version && resource === nodes.plural && subresource === '',
    audit: auditLog(log),
    limits: {
      maxReadOnly: requests.maxReadOnly,
      maxMutating: requests.maxMutating,
      maxLongRunning: requests.maxLongRunning,
      maxBodyBytes: config.listeners.limits.body,
      timeoutMs: requests.timeout,
    },
    signal,
  });

  const listeners = await listen(config, { chain, certificates, access, listenerMetrics, log, signal });
  running.push(
    access.settings.run(signal),
    informer.run(signal),
    openAPI.run(signal),
    registration.run(signal),
  );
  return {
    drain: async () => {
      await drain({
        listeners,
        failReadiness: () => {
          stopping = true;
        },
        endStreams: () => chain.drain(),
        readinessDelay: config.shutdown.readinessDelay,
        timeout: config.shutdown.timeout,
        log,
      });
    },
  };
}

/** Looks once, because later a missing kubeconfig could only be told as a cluster that can not be reached. */
function findKubeConfig(file: string): ReturnType<typeof kubeConfigSource> {
  const source = kubeConfigSource(file || undefined);
  try {
    source();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const cure = 'name a readable kubeconfig with --kubeconfig or KUBECONFIG';
    throw new StartupError('ERR_KUBECONFIG', `kubeconfig: ${reason}; ${cure}`, { cause: error });
  }
  return source;
}

interface ListenParts {
  readonly chain: RequestChain;
  readonly certificates: ReturnType<typeof chooseCertificate>;
  readonly access: ReturnType<typeof newAccess>;
  readonly listenerMetrics: ReturnType<typeof newListenerMetrics>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Opens the sockets; when one can not be had, none stays open. */
async function listen(config: CompletedConfig, parts: ListenParts): Promise<readonly Listener[]> {
  const { chain, certificates, access, listenerMetrics: metrics, log, signal } = parts;
  const { secure, insecure, limits } = config.listeners;
  const receiver = (isSecure: boolean): ConstructorParameters<typeof SecureListener>[0]['receiver'] => ({
    request: (request, response) => chain.serve(request, response, isSecure),
    upgrade: (request, socket, head) => chain.serveUpgrade(request, socket, head, isSecure),
  });
  const { address, port, minVersion } = secure;
  const tls = new SecureListener({
    address,
    port,
    minVersion,
    limits,
    receiver: receiver(true),
    metrics,
    log,
    certificates,
  });
  signal.addEventListener(
    'abort',
    access.settings.subscribe(() => tls.setClientCAs(access.settings.clientCAs())),
    {
      once: true,
    },
  );
  const listeners: Listener[] = [tls];
  if (insecure.enabled) {
    const { address, port } = insecure;
    listeners.push(newInsecureListener({ address, port, limits, receiver: receiver(false), metrics, log }));
  }
  try {
    for (const listener of listeners) {
      const { address, port } = await listener.listen();
      log.info({ listener: listener.name, address, port }, 'listening');
    }
  } catch (error) {
    for (const listener of listeners) listener.stopAccepting();
    throw error;
  }
  return listeners;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}
