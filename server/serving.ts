// Creates the parts that serve clients, and opens and drains the listeners. Each feature composes itself in its folder.
import { randomUUID } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { apiServiceName as logsAPIServiceName } from '../apis/logging/v1alpha2/group-version.ts';
import { apiServiceName } from '../apis/resources/v1alpha3/group-version.ts';
import { Admission } from './admission/admission.ts';
import { newApp } from './app.ts';
import { newAuthenticators } from './authentication/authenticators.ts';
import { newAuthorizers } from './authorization/authorizers.ts';
import { ClusterVersion } from './cluster/cluster-version.ts';
import type { ClusterClient } from './cluster/connection/client.ts';
import { ClusterReviews } from './cluster/reviews.ts';
import { SharedSecret } from './cluster/secrets/shared-secret.ts';
import type { CompletedConfig } from './config/config.ts';
import { descriptionRouter } from './endpoints/description/description.ts';
import { discoveryRouter } from './endpoints/discovery/discovery-handlers.ts';
import { collectHealthMetrics, healthRouter } from './endpoints/health.ts';
import { healthRegistries } from './endpoints/health-checks.ts';
import { metricsRouter } from './endpoints/metrics-endpoint.ts';
import { OpenAPI } from './endpoints/openapi/openapi.ts';
import { versionRouter } from './endpoints/server-version.ts';
import { EXPLORE_PATH, exploreRouter } from './explore/explore.ts';
import { auditLog } from './filters/audit.ts';
import { REQUEST_TIMEOUT_MS } from './filters/deadline.ts';
import { MAX_BODY_BYTES } from './filters/request-checks.ts';
import { RequestMetrics } from './filters/request-metrics.ts';
import { newGateway } from './gateway/gateway.ts';
import { atHost, isKubernetesAPI } from './gateway/proxied-request.ts';
import { userKubeconfig } from './gateway/user-kubeconfig.ts';
import { newUsersAPI } from './iam/users-api.ts';
import { chooseCertificate } from './listener/certificates/certificate-choice.ts';
import { newCertificateMetrics, watchExpiry } from './listener/certificates/certificate-metrics.ts';
import { drain } from './listener/drain.ts';
import { newListenerMetrics } from './listener/listener-metrics.ts';
import { listen } from './listener/listening.ts';
import { newResources } from './lists/lists.ts';
import { newLogs } from './logging/logging.ts';
import { newNodes } from './nodes/nodes.ts';
import { KEYS_SECRET } from './oauth/keys/key-rotator.ts';
import { newOAuth } from './oauth/oauth.ts';
import { oauthSettings } from './oauth/settings.ts';
import { issuerOf } from './oauth/tokens/token-issuer.ts';
import { AccessMetrics } from './observability/access-metrics.ts';
import { collectRegistrationMetrics, Registration } from './registration/registration.ts';
import { isLongRunning } from './request/long-running.ts';
import { pathIn } from './request/request-path.ts';
import { knownResources, resourceRequests } from './request/resource-route.ts';
import { sourceAddress, trustedProxy } from './request/source-address.ts';
import type { KindCopy } from './resources/kinds/kind-copy.ts';
import type { Kinds } from './resources/kinds/kinds.ts';
import { newTracing } from './tracing/tracing.ts';

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
  { version, client, kubeConfig, metrics, kinds, nodes: copy, log }: ServingDependencies,
  signal: AbortSignal,
): Promise<Serving> {
  const { environment, platform } = config;
  const certificateMetrics = newCertificateMetrics(metrics);
  const secret = new SharedSecret({ client, namespace: platform.namespace, name: KEYS_SECRET, log });
  const certificates = chooseCertificate(config, {
    hostname: hostname(),
    // A server that does not register itself writes nothing to the cluster for its certificate.
    secret: config.registration.manageCABundle ? secret : undefined,
    log,
    metrics: certificateMetrics,
  });
  await certificates.start(signal);
  watchExpiry(certificates, certificateMetrics, log, signal);

  const tracing = await newTracing(config, { version, metrics, log });
  const admission = new Admission(metrics);
  const pools = admission.requestPools(config);
  const lookups = admission.lookups();
  let securePort = config.listeners.secure.port;
  const settings = oauthSettings(config);
  const issuer = (): string => issuerOf(config.oauth, securePort);
  const oauth =
    settings &&
    newOAuth({
      settings,
      platform,
      issuer,
      client,
      secret,
      // Unique for several replicas on one host.
      identity: `${environment.instance}_${randomUUID()}`,
      admission,
      lookups,
      machine: { cores: availableParallelism(), threads: environment.threadPoolSize },
      kubeconfig: userKubeconfig(config, certificates, issuer),
      log,
      metrics,
    });
  const isSignInPath = (path: string): boolean => oauth?.isPublic(path) ?? false;
  const accessMetrics = new AccessMetrics(metrics);
  const nodes = newNodes(config, { copy, metrics });
  const { copies } = kinds.followed;
  const access = { client, reviews: new ClusterReviews(client, accessMetrics), lookups, log, signal };
  const authenticators = newAuthenticators(config, {
    ...access,
    metrics: accessMetrics,
    oauth,
    isSignIn: ({ url = '' }) => isSignInPath(pathIn(url)),
    isAtProxyHost: atHost(config.gateway.proxyHost),
    isKubernetesAPI,
  });
  const { authorizer, scopes } = newAuthorizers(config, {
    ...access,
    copies,
    metrics: accessMetrics,
    namespaceReviews: admission.namespaceReviews(),
    isSignInPath,
  });
  const users = oauth && newUsersAPI(config, { authorizer, oauth, log });
  const logs = config.logging.enabled
    ? await newLogs(config, { client, copies, scopes, admission, log, metrics })
    : undefined;
  const resources = newResources(config, { client, nodes, kinds, authorizer, scopes, admission });
  const gateway = config.gateway.enabled
    ? newGateway(config, {
        client,
        kubeConfig,
        authenticators,
        authorizer,
        accessMetrics,
        oauth,
        issuer,
        kinds: kinds.followed,
        writes: resources.writes,
        pools,
        callerReviews: admission.callerReviews(),
        ownGroups: [nodes.definition.group, ...(logs ? [logs.discovered.group] : [])],
        log,
        metrics,
        signal,
      })
    : undefined;
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
    cacheSynced: () => copy.synced,
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
  const routed = [nodes.route, resources.route, ...(users?.routes ?? []), ...(logs?.routes ?? [])];
  const app = newApp({
    routers: {
      health: healthRouter(health),
      metrics: metricsRouter(metrics),
      version: versionRouter({
        source: { version, ...environment },
        kubernetes: new ClusterVersion(client, signal),
        authorizer,
      }),
      discovery: discoveryRouter([...served, ...(logs ? [logs.discovered] : [])]),
      openAPI: openAPI.router(),
      description: descriptionRouter({
        platform: platform.name,
        version,
        oauth: oauth !== undefined,
        logs: logs !== undefined,
      }),
      explore: config.explore.enabled
        ? exploreRouter({ platform: platform.name, signIn: oauth !== undefined })
        : undefined,
      oauth: oauth?.router,
    },
    resources: resourceRequests(routed),
    authenticator: authenticators.authenticator,
    streamChecks: authenticators,
    identityHeaders: authenticators.settings.identityHeaders,
    authorizer: [resources, ...(logs ? [logs] : [])].reduce(
      (inner, part) => part.authorizer(inner),
      users?.authorizer ?? authorizer,
    ),
    logger: log,
    metrics: new RequestMetrics(metrics),
    knownResource: knownResources(routed),
    audit: auditLog(log),
    allowedOrigins: config.cors.allowedOrigins,
    pools,
    sourceOf: sourceAddress(config.oauth.trustedProxies),
    limits: { maxBodyBytes: MAX_BODY_BYTES, timeoutMs: REQUEST_TIMEOUT_MS },
    errorFamilies: oauth ? [oauth.errorFamily] : [],
    startPage: (secure) => (secure && config.explore.enabled ? EXPLORE_PATH : oauth?.startPage),
    signInPaths: isSignInPath,
    longRunning: (context) =>
      resources.isLongRunning(context) ?? logs?.isLongRunning(context) ?? isLongRunning(context),
    ...(gateway ? { gateway: gateway.route } : {}),
    ...(tracing ? { tracing } : {}),
    signal,
  });

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
  const followers = [
    secret,
    authenticators.settings,
    openAPI,
    registration,
    ...(oauth ? [oauth] : []),
    ...(logs?.followers ?? []),
    ...(gateway?.followers ?? []),
    ...(tracing ? [tracing.spans] : []),
  ];
  return {
    followers,
    drain: async () => {
      await drain({
        listeners,
        failReadiness: () => {
          stopping = true;
        },
        endStreams: () => app.drain(),
        readinessDelay: config.shutdown.readinessDelay,
        timeout: config.shutdown.timeout,
        log,
      });
    },
  };
}
