// Starts the part of the server that serves clients: the application with all features, behind the listeners.
import { hostname } from 'node:os';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { apiServiceName as logsAPIServiceName } from '../apis/logging/v1alpha2/group-version.ts';
import { apiServiceName } from '../apis/resources/v1alpha3/group-version.ts';
import { Admission, type RequestPools } from './admission/admission.ts';
import { type App, newApp } from './app.ts';
import { ClusterVersion } from './cluster/cluster-version.ts';
import type { ClusterClient } from './cluster/connection/client.ts';
import { SharedSecret } from './cluster/secrets/shared-secret.ts';
import type { CompletedConfig } from './config/config.ts';
import { descriptionRouter } from './endpoints/description/description.ts';
import { discoveryRouter } from './endpoints/discovery/discovery-handlers.ts';
import { collectHealthMetrics, type HealthRegistry, healthRouter } from './endpoints/health.ts';
import { healthRegistries } from './endpoints/health-checks.ts';
import { metricsRouter } from './endpoints/metrics-endpoint.ts';
import { OpenAPI } from './endpoints/openapi/openapi.ts';
import { versionRouter } from './endpoints/server-version.ts';
import { EXPLORE_PATH, exploreRouter } from './explore/explore.ts';
import { type Features, newFeatures } from './features.ts';
import { auditLog } from './filters/audit.ts';
import { REQUEST_TIMEOUT_MS } from './filters/deadline.ts';
import { MAX_BODY_BYTES } from './filters/request-checks.ts';
import { RequestMetrics } from './filters/request-metrics.ts';
import { chooseCertificate, type StartableSource } from './listener/certificates/certificate-choice.ts';
import { newCertificateMetrics, watchExpiry } from './listener/certificates/certificate-metrics.ts';
import { DRAIN_TIMEOUT_MS, drain } from './listener/drain.ts';
import { newListenerMetrics } from './listener/listener-metrics.ts';
import { listen } from './listener/listening.ts';
import { KEYS_SECRET } from './oauth/keys/key-rotator.ts';
import { issuerOf } from './oauth/tokens/token-issuer.ts';
import { collectRegistrationMetrics, Registration } from './registration/registration.ts';
import { knownResources, resourceRequests } from './request/resource-route.ts';
import { sourceAddress, trustedProxy } from './request/source-address.ts';
import type { KindCopy } from './resources/kinds/kind-copy.ts';
import type { Kinds } from './resources/kinds/kinds.ts';
import { newTracing, type Tracing } from './tracing/tracing.ts';

interface ServingDependencies {
  readonly version: string;
  readonly client: ClusterClient;
  /** The source of the address of kube-apiserver, for the gateway. */
  readonly kubeConfig: (reload: boolean) => KubeConfig;
  readonly metrics: Registry;
  /** Already running. */
  readonly kinds: Kinds;
  /** The copy of nodes, with objects. */
  readonly nodes: KindCopy;
  readonly log: Logger;
}

interface Serving {
  /** Background tasks to run until the last response is sent. */
  readonly followers: readonly { run(signal: AbortSignal): Promise<void> }[];
  /** Stops the listeners gracefully. */
  drain(): Promise<void>;
}

/** Starts serving. Throws StartupError, for instance if an address is unavailable. */
export async function serve(
  config: CompletedConfig,
  dependencies: ServingDependencies,
  signal: AbortSignal,
): Promise<Serving> {
  const { version, client, metrics, kinds, nodes, log } = dependencies;
  const { platform } = config;
  const secret = new SharedSecret({ client, namespace: platform.namespace, name: KEYS_SECRET, log });
  const certificates = await startCertificates(config, secret, dependencies, signal);
  const tracing = await newTracing(config, { version, metrics, log });
  const admission = new Admission(metrics);
  const pools = admission.requestPools(config);
  let securePort = config.listeners.secure.port;
  const issuer = (): string => issuerOf(config.oauth, securePort);
  const features = await newFeatures(config, {
    ...dependencies,
    certificates,
    secret,
    issuer,
    admission,
    pools,
    signal,
  });
  const { authenticators, oauth, logs, gateway } = features;
  const registration = new Registration({
    apiServices: [apiServiceName(platform.name), ...(logs ? [logsAPIServiceName(platform.name)] : [])],
    manageCABundle: config.registration.manageCABundle,
    client,
    servingCA: {
      current: () => (certificates.ready ? certificates.current().ca : undefined),
      onChange: (listener) => certificates.onChange(listener),
    },
    log,
  });
  collectRegistrationMetrics(metrics, () => registration.trust());
  let stopping = false;
  const health = healthRegistries({
    cacheSynced: () => nodes.synced,
    accessKnown: () => authenticators.settings.current() !== undefined,
    describeFrontProxy: () => authenticators.frontProxyStatus.describe(),
    certificateReady: () => certificates.ready,
    describeRegistration: () => registration.describe(),
    oauthMissing: () => oauth?.missing,
    describeProviders: () => oauth?.describeProviders(),
    describeLogs: () => logs?.describe(),
    describeGateway: () => gateway?.describe(),
    describeKinds: () => kinds.followed.describe(),
    stopping: () => stopping,
  });
  collectHealthMetrics(metrics, health);
  const openAPI = new OpenAPI({
    resources: [features.nodes.definition],
    groups: logs ? [logs.described] : [],
    title: 'ks-apiserver',
    version,
    client,
    log,
  });
  const app = appOf(config, features, { ...dependencies, health, openAPI, pools, tracing, signal });
  const listeners = await listen(config, {
    receiver: (secure) => ({
      request: (request, response) => app.serve(request, response, secure),
      upgrade: (request, socket, head) => app.serveUpgrade(request, socket, head, secure),
    }),
    certificates,
    settings: authenticators.settings,
    proxies: {
      hasAddress: trustedProxy(config.oauth.trustedProxies),
      hasCertificate: (connection) => authenticators.isFrontProxyPeer(connection),
    },
    metrics: newListenerMetrics(metrics),
    log,
    signal,
  });
  securePort = listeners[0].address.port;
  return {
    followers: [
      secret,
      authenticators.settings,
      openAPI,
      registration,
      ...(oauth ? [oauth] : []),
      ...(logs?.followers ?? []),
      ...(gateway?.followers ?? []),
      ...(tracing ? [tracing.spans] : []),
    ],
    drain: async () => {
      await drain({
        listeners,
        failReadiness: () => {
          stopping = true;
        },
        endStreams: () => app.drain(),
        readinessDelay: config.shutdown.readinessDelay,
        timeout: DRAIN_TIMEOUT_MS,
        log,
      });
    },
  };
}

async function startCertificates(
  config: CompletedConfig,
  secret: SharedSecret,
  { metrics: registry, log }: ServingDependencies,
  signal: AbortSignal,
): Promise<StartableSource> {
  const metrics = newCertificateMetrics(registry);
  const certificates = chooseCertificate(config, {
    hostname: hostname(),
    // A server that does not register itself writes nothing to the cluster for its certificate.
    secret: config.registration.manageCABundle ? secret : undefined,
    log,
    metrics,
  });
  await certificates.start(signal);
  watchExpiry(certificates, metrics, log, signal);
  return certificates;
}

interface AppDependencies extends Pick<ServingDependencies, 'version' | 'client' | 'metrics' | 'log'> {
  readonly health: readonly HealthRegistry[];
  readonly openAPI: OpenAPI;
  readonly pools: RequestPools;
  readonly tracing: Tracing | undefined;
  readonly signal: AbortSignal;
}

function appOf(
  config: CompletedConfig,
  { authenticators, authorizer, clusterAuthorizer, nodes, oauth, logs, gateway, ...features }: Features,
  { version, client, metrics, log, health, openAPI, pools, tracing, signal }: AppDependencies,
): App {
  const platform = config.platform.name;
  const { enabled: explores } = config.explore;
  return newApp({
    routers: {
      health: healthRouter(health),
      metrics: metricsRouter(metrics),
      version: versionRouter({
        source: { version, ...config.environment },
        kubernetes: new ClusterVersion(client, signal),
        authorizer: clusterAuthorizer,
      }),
      discovery: discoveryRouter([nodes.definition, ...(logs ? [logs.discovered] : [])]),
      openAPI: openAPI.router(),
      description: descriptionRouter({
        platform,
        version,
        oauth: oauth !== undefined,
        logs: logs !== undefined,
      }),
      explore: explores ? exploreRouter({ platform, signIn: oauth !== undefined }) : undefined,
      oauth: oauth?.router,
    },
    resources: resourceRequests(features.routes),
    authenticator: authenticators.authenticator,
    streamChecks: authenticators,
    identityHeaders: authenticators.settings.identityHeaders,
    authorizer,
    logger: log,
    metrics: new RequestMetrics(metrics),
    knownResource: knownResources(features.routes),
    audit: auditLog(log),
    allowedOrigins: config.cors.allowedOrigins,
    pools,
    sourceOf: sourceAddress(config.oauth.trustedProxies),
    limits: { maxBodyBytes: MAX_BODY_BYTES, timeoutMs: REQUEST_TIMEOUT_MS },
    errorFamilies: oauth ? [oauth.errorFamily] : [],
    startPage: (secure) => (secure && explores ? EXPLORE_PATH : oauth?.startPage),
    signInPaths: (path) => features.isSignInPath(path),
    longRunning: features.isLongRunning,
    ...(gateway ? { gateway: gateway.route } : {}),
    ...(tracing ? { tracing } : {}),
    signal,
  });
}
