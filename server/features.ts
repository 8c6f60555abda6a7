// Creates the features of the server, and what decides about their callers. Each feature composes itself in one file of its folder.
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Admission, RequestPools } from './admission/admission.ts';
import { type Authenticators, newAuthenticators } from './authentication/authenticators.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import { newAuthorizers } from './authorization/authorizers.ts';
import type { ClusterClient } from './cluster/connection/client.ts';
import { ClusterReviews } from './cluster/reviews.ts';
import type { SharedSecret } from './cluster/secrets/shared-secret.ts';
import type { CompletedConfig } from './config/config.ts';
import { type GatewayParts, newGateway } from './gateway/gateway.ts';
import { atHost, isKubernetesAPI } from './gateway/proxied-request.ts';
import { userKubeconfig } from './gateway/user-kubeconfig.ts';
import { newUsersAPI } from './iam/users-api.ts';
import type { StartableSource } from './listener/certificates/certificate-choice.ts';
import { newResources } from './lists/lists.ts';
import { type Logs, newLogs } from './logging/logging.ts';
import { type Nodes, newNodes } from './nodes/nodes.ts';
import { newOAuth, type OAuth } from './oauth/oauth.ts';
import { oauthSettings } from './oauth/settings.ts';
import { AccessMetrics } from './observability/access-metrics.ts';
import { isLongRunning, type LongRunning } from './request/long-running.ts';
import { pathIn } from './request/request-path.ts';
import type { ResourceRoute } from './request/resource-route.ts';
import type { KindCopy } from './resources/kinds/kind-copy.ts';
import type { Kinds } from './resources/kinds/kinds.ts';

interface FeaturesDependencies {
  readonly client: ClusterClient;
  readonly kubeConfig: (reload: boolean) => KubeConfig;
  readonly kinds: Kinds;
  /** The copy of nodes, with objects. */
  readonly nodes: KindCopy;
  readonly certificates: StartableSource;
  /** The Secret of the signing keys. */
  readonly secret: SharedSecret;
  /** The issuer URL; known when the first request arrives. */
  readonly issuer: () => string;
  readonly admission: Admission;
  readonly pools: RequestPools;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly signal: AbortSignal;
}

export interface Features {
  readonly authenticators: Authenticators;
  /** Includes the rules of the features. */
  readonly authorizer: Authorizer;
  /** Decides by the permissions in the cluster alone. */
  readonly clusterAuthorizer: Authorizer;
  readonly nodes: Nodes;
  /** Undefined if the feature is disabled, like the two below. */
  readonly oauth: OAuth | undefined;
  readonly logs: Logs | undefined;
  readonly gateway: GatewayParts | undefined;
  readonly routes: readonly ResourceRoute[];
  readonly isLongRunning: LongRunning;
  /** Returns true for a path whose endpoint authenticates callers itself. */
  isSignInPath(path: string): boolean;
}

export async function newFeatures(
  config: CompletedConfig,
  dependencies: FeaturesDependencies,
): Promise<Features> {
  const {
    client,
    kubeConfig,
    kinds,
    nodes: copy,
    issuer,
    admission,
    pools,
    log,
    metrics,
    signal,
  } = dependencies;
  const lookups = admission.lookups();
  const settings = oauthSettings(config);
  const oauth =
    settings &&
    newOAuth({
      ...dependencies,
      settings,
      platform: config.platform,
      lookups,
      // Unique for several replicas on one host.
      identity: `${config.environment.instance}_${randomUUID()}`,
      machine: { cores: availableParallelism(), threads: config.environment.threadPoolSize },
      kubeconfig: userKubeconfig(config, dependencies.certificates, issuer),
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
  const { authorizer: clusterAuthorizer, scopes } = newAuthorizers(config, {
    ...access,
    copies,
    metrics: accessMetrics,
    namespaceReviews: admission.namespaceReviews(),
    isSignInPath,
  });
  const users = oauth && newUsersAPI(config, { authorizer: clusterAuthorizer, oauth, log });
  const logs = config.logging.enabled
    ? await newLogs(config, { client, copies, scopes, admission, log, metrics })
    : undefined;
  const resources = newResources(config, {
    client,
    nodes,
    kinds,
    authorizer: clusterAuthorizer,
    scopes,
    admission,
  });
  const gateway = config.gateway.enabled
    ? newGateway(config, {
        client,
        kubeConfig,
        authenticators,
        authorizer: clusterAuthorizer,
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
  return {
    authenticators,
    authorizer: [resources, ...(logs ? [logs] : [])].reduce(
      (inner, part) => part.authorizer(inner),
      users?.authorizer ?? clusterAuthorizer,
    ),
    clusterAuthorizer,
    nodes,
    oauth,
    logs,
    gateway,
    routes: [nodes.route, resources.route, ...(users?.routes ?? []), ...(logs?.routes ?? [])],
    isLongRunning: (context) =>
      resources.isLongRunning(context) ?? logs?.isLongRunning(context) ?? isLongRunning(context),
    isSignInPath,
  };
}
