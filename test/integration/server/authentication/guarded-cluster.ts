// Test fixture: a real control plane with ks-apiserver's filter chain, for tests of authentication and authorization.
import { mkdtemp, rm } from 'node:fs/promises';
import { type Agent, createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { record } from '../../../../apis/reading/unknown-value.ts';
import type { KeyPair } from '../../../../hack/control-plane/certificate-authority.ts';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { Admission } from '../../../../server/admission/admission.ts';
import { type Authenticators, newAuthenticators } from '../../../../server/authentication/authenticators.ts';
import { newAuthorizers } from '../../../../server/authorization/authorizers.ts';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import { ClusterReviews } from '../../../../server/cluster/reviews.ts';
import { atHost, isKubernetesAPI } from '../../../../server/gateway/proxied-request.ts';
import { AccessMetrics } from '../../../../server/observability/access-metrics.ts';
import { createRegistry } from '../../../../server/observability/metrics.ts';
import { KindCopies } from '../../../../server/resources/kinds/kind-copies.ts';
import { issueServer, newCA } from '../../../support/certificates.ts';
import { exchange } from '../../../support/exchange.ts';
import { closeNow, listenOnLoopback, portOf } from '../../../support/loopback.ts';
import { openChain } from '../../../support/open-chain.ts';

export const NODES = '/apis/resources.platform.io/v1alpha3/nodes';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const CONFIG_MAP = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';

interface Caller {
  readonly pair?: KeyPair;
  /** Header names and values, alternating. */
  readonly headers?: readonly string[];
  readonly agent?: Agent;
}

interface Answer {
  readonly status: number;
  /** The authenticated user, or the Status. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The option `cors.allowedOrigins`. */
export const CONSOLE = 'https://console.example.com';
/** The option `gateway.proxyHost`. */
export const PROXY_HOST = 'pages.example.com';

export class GuardedCluster {
  readonly controlPlane: ControlPlane;
  readonly authenticators: Authenticators;
  /** Number of TokenReviews that the cluster has received. */
  tokenReviews = 0;
  readonly #dir: string;
  readonly #stop: AbortController;
  readonly #client: ClusterConnection;
  readonly #following: Promise<void>;
  readonly #server: Server;

  private constructor(controlPlane: ControlPlane, dir: string, stop: AbortController, pair: KeyPair) {
    this.controlPlane = controlPlane;
    this.#dir = dir;
    this.#stop = stop;
    this.#client = new ClusterConnection({ kubeConfig: kubeConfigSource(controlPlane.kubeconfig) });
    const log = pino({ level: 'silent' });
    const client = this.#client;
    const counting: ClusterClient = {
      open: (call) => client.open(call),
      json: (call) => {
        if (call.path.endsWith('/tokenreviews')) this.tokenReviews++;
        return client.json(call);
      },
    };
    const metrics = new AccessMetrics(createRegistry());
    const shared = {
      client: counting,
      reviews: new ClusterReviews(counting, metrics),
      lookups: new Admission().lookups(),
      log,
      signal: stop.signal,
      metrics,
    };
    this.authenticators = newAuthenticators(
      {
        authentication: { anonymous: true, tokenCacheTTL: 10_000 },
        cors: { allowedOrigins: [CONSOLE] },
      },
      {
        ...shared,
        oauth: undefined,
        isKubernetesAPI,
        isSignIn: () => false,
        isAtProxyHost: atHost(PROXY_HOST),
      },
    );
    const { authorizer } = newAuthorizers(
      { authorization: { allowCacheTTL: 1, reviewAllNamespaces: false } },
      {
        ...shared,
        copies: new KindCopies({ client, log, domain: 'platform.io' }),
        namespaceReviews: new Admission().namespaceReviews(),
        isSignInPath: () => false,
      },
    );
    this.#following = this.authenticators.settings.run(stop.signal);
    const chain = openChain({
      handler: ({ user, response }) => void response.end(JSON.stringify(user)),
      authenticator: this.authenticators.authenticator,
      identityHeaders: this.authenticators.settings.identityHeaders,
      authorizer,
      limits: { timeoutMs: 30_000 },
      signal: stop.signal,
    });
    this.#server = createServer(
      { ...pair, requestCert: true, rejectUnauthorized: false, maxHeaderSize: 256 * 1024 },
      (incoming, response) => chain.serve(incoming, response, true),
    );
  }

  static async start(): Promise<GuardedCluster> {
    const dir = await mkdtemp(join(tmpdir(), 'guarded-cluster-'));
    const stop = new AbortController();
    const controlPlane = await startControlPlane({ dir, signal: stop.signal, controllers: false });
    const { cert, key } = await issueServer(await newCA('serving'));
    const cluster = new GuardedCluster(controlPlane, dir, stop, { cert, key });
    const known = cluster.nextSettings();
    await listenOnLoopback(cluster.#server);
    if (!cluster.authenticators.settings.current()) await known;
    return cluster;
  }

  async ask(path: string, { pair, headers = [], agent }: Caller = {}): Promise<Answer> {
    const host = headers.includes('Host') ? [] : ['Host', 'localhost'];
    const options = { path, headers: [...host, ...headers], ...pair };
    // These tests do not verify the certificate of the server.
    const trust = { rejectUnauthorized: false, ...(agent && { agent }) };
    const { status, body } = await exchange(portOf(this.#server), { ...options, ...trust });
    return { status, body: record(JSON.parse(body)) };
  }

  /** Resolves when the settings have changed. */
  nextSettings(): Promise<void> {
    return new Promise((resolve) => {
      const end = this.authenticators.settings.subscribe(() => {
        end();
        resolve();
      });
    });
  }

  /** Changes the ConfigMap; resolves when the settings have changed and `heard` returns true. */
  async publish(data: Record<string, string>, heard: () => boolean): Promise<void> {
    await this.controlPlane.client.expect(
      CONFIG_MAP,
      { method: 'PATCH', contentType: 'application/merge-patch+json', body: { data } },
      [200],
    );
    // kube-apiserver rewrites the ConfigMap in its own order, so not every change of the settings is this one.
    while (!heard()) await this.nextSettings();
  }

  async published(): Promise<Record<string, string>> {
    const { data } = (await this.controlPlane.client.get(CONFIG_MAP)) as { data: Record<string, string> };
    return data;
  }

  async create(path: string, body: unknown): Promise<Record<string, unknown>> {
    const answer = await this.controlPlane.client.expect(path, { method: 'POST', body }, [200, 201]);
    return JSON.parse(answer.body) as Record<string, unknown>;
  }

  /**
   * Allows the group `readers` and a ServiceAccount to read nodes, and to list the node `n1` of kube-apiserver; resolves when
   * kube-apiserver does.
   */
  async allowReads(): Promise<void> {
    const [group, resource, name] = ['resources.platform.io', 'nodes', 'node-readers'];
    const rules = [
      { apiGroups: [group], resources: [resource], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: [resource], resourceNames: ['n1'], verbs: ['list'] },
    ];
    await this.create(`${RBAC}/clusterroles`, { metadata: { name }, rules });
    await this.create(`${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [
        { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'readers' },
        { kind: 'ServiceAccount', namespace: 'default', name: 'reader' },
      ],
    });
    // kube-apiserver watches roles and bindings, so it may not know the new ones yet.
    const spec = {
      user: 'probe',
      groups: ['readers'],
      resourceAttributes: { group, resource, verb: 'list' },
    };
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    while (!record((await this.create(path, { spec }))['status'])['allowed']);
  }

  async stop(): Promise<void> {
    await closeNow(this.#server);
    this.#stop.abort();
    await this.#following;
    this.#client.close();
    await this.controlPlane.stop();
    await rm(this.#dir, { recursive: true, force: true });
  }
}
