// The composition root: makes every part, hands it what it needs by name, starts all and stops all in order.
// Decides nothing itself. Started by main.ts; nodes.ts, access.ts and listening.ts beside it put together one part each.
import { randomUUID } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';
import type { Logger } from 'pino';
import { StartupError } from '../apis/config/v1alpha1/startup-error.ts';
import { apiServiceName as logsAPIServiceName } from '../apis/logging/v1alpha2/group-version.ts';
import { apiServiceName } from '../apis/resources/v1alpha3/group-version.ts';
import { newAccess } from './access.ts';
import { readBuildInfo } from './build-info.ts';
import { ClusterConnection } from './cluster/connection.ts';
import { kubeConfigSource } from './cluster/kubeconfig.ts';
import type { CompletedConfig } from './config.ts';
import { descriptionHandlers } from './endpoints/description/description.ts';
import { discoveryHandlers } from './endpoints/discovery/discovery.ts';
import { healthHandler } from './endpoints/health.ts';
import { metricsHandler } from './endpoints/metrics.ts';
import { OpenAPI } from './endpoints/openapi/openapi.ts';
import { versionHandler } from './endpoints/version.ts';
import { auditLog } from './filters/audit-log.ts';
import { RequestChain } from './filters/chain.ts';
import { isLongRunning } from './filters/long-running.ts';
import type { Handler } from './filters/request-context.ts';
import { healthRegistries } from './health-checks.ts';
import { chooseCertificate } from './listener/certificate-choice.ts';
import { drain } from './listener/drain.ts';
import { watchExpiry } from './listener/expiry-warning.ts';
import { newListenerMetrics } from './listener/listener-metrics.ts';
import { listen } from './listening.ts';
import { newLogs } from './logs.ts';
import { newNodes } from './nodes.ts';
import { newOAuth } from './oauth/oauth.ts';
import { issuerOf, oauthSettings } from './oauth/settings.ts';
import { createLogger } from './observability/logger.ts';
import { collectProcessMetrics, createRegistry } from './observability/metrics.ts';
import { RequestMetrics } from './observability/request-metrics.ts';
import { Registration } from './registration/registration.ts';
import { collectRegistrationMetrics } from './registration/registration-metrics.ts';
import { routes } from './routes.ts';
import { newUsersAPI } from './users-api.ts';

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
  const { environment, platform, requests } = config;
  const kubeConfig = findKubeConfig(config.kubernetes.kubeconfig);
  const { version } = await readBuildInfo();
  const metrics = createRegistry();
  collectProcessMetrics(metrics, version);
  const listenerMetrics = newListenerMetrics(metrics);
  const certificates = chooseCertificate(config, { hostname: hostname(), log, metrics: listenerMetrics });
  await certificates.start(signal);
  watchExpiry(certificates, listenerMetrics, log, signal);

  const client = new ClusterConnection({ kubeConfig, userAgent: `ks-apiserver/${version}` });
  signal.addEventListener('abort', () => client.close(), { once: true });
  let securePort = config.listeners.secure.port;
  const settings = oauthSettings(config);
  const oauth =
    settings &&
    newOAuth({
      settings,
      platform,
      issuer: () => issuerOf(config.oauth, securePort),
      client,
      // Two replicas on one host are two.
      identity: `${environment.instance}_${randomUUID()}`,
      machine: { cores: availableParallelism(), threads: environment.threadPoolSize },
      log,
      metrics,
    });
  const access = newAccess(config, { client, log, signal, oauth, metrics });
  const { authorizer } = access;
  const users = oauth && newUsersAPI(config, { client, authorizer, oauth, log });
  const nodes = newNodes(config, { client, log, metrics });
  const logs = config.logging.enabled
    ? await newLogs(config, {
        client,
        freshAuthorizer: access.freshAuthorizer,
        log,
        metrics,
        signal,
      })
    : undefined;
  const registration = new Registration({
    apiServices: [apiServiceName(platform.name), ...(logs ? [logsAPIServiceName(platform.name)] : [])],
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
  const served = [nodes.definition];
  const openAPI = new OpenAPI({
    resources: served,
    groups: logs ? [logs.described] : [],
    title: 'ks-apiserver',
    version,
    client,
    log,
  });

  let stopping = false;
  const health = healthRegistries({
    cacheSynced: () => nodes.informer.cache.synced,
    accessKnown: () => access.settings.current() !== undefined,
    describeFrontProxy: () => access.diagnosis.describe(),
    describeRegistration: () => registration.describe(),
    oauthReady: () => oauth?.ready,
    describeLogs: () => logs?.describe(),
    stopping: () => stopping,
  });
  const resources = [...nodes.routes, ...(users?.routes ?? []), ...(logs?.routes ?? [])];
  const known = new Set(
    resources.flatMap(({ group, version, resource, subresources = [] }) =>
      ['', ...subresources].map((subresource) => `${group}/${version}/${resource}/${subresource}`),
    ),
  );
  const chain = new RequestChain({
    handler: routes({
      resources,
      paths: new Map<string, Handler>([
        ...health.map((registry): [string, Handler] => [
          `/${registry.path}{/*check}`,
          healthHandler(registry),
        ]),
        ...discoveryHandlers([...served, ...(logs ? [logs.discovered] : [])]),
        ...openAPI.handlers(),
        ...descriptionHandlers({
          platform: platform.name,
          version,
          oauth: oauth !== undefined,
          logs: logs !== undefined,
        }),
        ...(oauth?.paths ?? []),
        ['/version', versionHandler({ version, ...environment })],
        ['/metrics', metricsHandler(metrics)],
      ]),
    }),
    authenticator: access.authenticator,
    ...(access.stillSignedIn ? { stillSignedIn: access.stillSignedIn } : {}),
    identityHeaders: access.settings.identityHeaders,
    authorizer: logs ? logs.authorizer(users?.authorizer ?? authorizer) : (users?.authorizer ?? authorizer),
    logger: log,
    metrics: new RequestMetrics(metrics),
    knownResource: (...names) => known.has(names.join('/')),
    audit: auditLog(log),
    limits: {
      maxReadOnly: requests.maxReadOnly,
      maxMutating: requests.maxMutating,
      maxLongRunning: requests.maxLongRunning,
      maxBodyBytes: config.listeners.limits.body,
      timeoutMs: requests.timeout,
    },
    errorFamilies: oauth ? [oauth.errorFamily] : [],
    signInPaths: (path) => oauth?.isPublic(path) ?? false,
    longRunning: (context) => isLongRunning(context) || (logs?.isLongRunning(context) ?? false),
    signal,
  });

  const listeners = await listen(config, {
    chain,
    certificates,
    settings: access.settings,
    metrics: listenerMetrics,
    log,
    signal,
  });
  securePort = listeners[0].address.port;
  const followers = [
    access.settings,
    ...nodes.followers,
    openAPI,
    registration,
    ...(oauth ? [oauth] : []),
    ...(users ? [users] : []),
    ...(logs?.followers ?? []),
  ];
  running.push(...followers.map((follower) => follower.run(signal)));
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

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}
