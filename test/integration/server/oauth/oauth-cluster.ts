// Starts a control plane and replicas of the authorization server, for integration tests. Users and sessions are
// custom resources.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CustomFetch } from 'openid-client';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { decodeConfiguration } from '../../../../apis/config/v1alpha1/decode.ts';
import type { User } from '../../../../apis/iam/v1beta1/user-resource.ts';
import { newUnauthorized } from '../../../../apis/meta/v1/errors.ts';
import { array, record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { grant, SERVICE_ACCOUNT } from '../../../../hack/extension/registration.ts';
import { Admission } from '../../../../server/admission/admission.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import { SharedSecret } from '../../../../server/cluster/secrets/shared-secret.ts';
import { KEYS_SECRET } from '../../../../server/oauth/keys/key-rotator.ts';
import { newOAuth, type OAuth } from '../../../../server/oauth/oauth.ts';
import { oauthSettings } from '../../../../server/oauth/settings.ts';
import type { ThrottleLimits } from '../../../../server/oauth/throttle/delays.ts';
import { closeNow, listenOnLoopback, portOf } from '../../../support/loopback.ts';
import { askSite, type SiteRequest, type SiteResponse } from '../../../support/oauth/site-request.ts';
import { openChain } from '../../../support/open-chain.ts';
import { until } from '../../../support/until.ts';

export const NAMESPACE = 'platform-system';
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`;
const PROVIDER_SECRET = 'ks-apiserver-identity-providers';
const IAM = '/apis/iam.platform.io/v1beta1';

/** An object of the IAM API. */
interface IamObject {
  readonly name: string;
  readonly uid: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

function readObject(object: unknown): IamObject {
  const { name, uid } = recordIn(object, 'metadata');
  return { name: text(name), uid: text(uid), spec: recordIn(object, 'spec') };
}

/** An authorization server with the real filter chain over TLS, without the other APIs of ks-apiserver. */
export class OAuthReplica {
  readonly oauth: OAuth;
  readonly metrics = new Registry();
  /** Audit records. */
  readonly audited: Readonly<Record<string, unknown>>[] = [];
  readonly #issuer: string | undefined;
  readonly #host: string;
  readonly #server: Server;
  readonly #stop = new AbortController();
  readonly #client: ClusterConnection;
  readonly #secret: SharedSecret;
  #running: Promise<unknown> | undefined;

  constructor(
    kubeconfig: string,
    configuration: object,
    tls: { cert: string; key: string },
    issuer: string | undefined,
    host: string,
    throttle: Partial<ThrottleLimits>,
  ) {
    this.#issuer = issuer;
    this.#host = host;
    this.#client = new ClusterConnection({ kubeConfig: kubeConfigSource(kubeconfig) });
    const config = decodeConfiguration({
      source: 'test',
      text: JSON.stringify({
        apiVersion: 'config.platform.io/v1alpha1',
        kind: 'APIServerConfiguration',
        oauth: configuration,
      }),
    });
    const settings = oauthSettings(config);
    if (!settings) throw new Error('the authorization server is turned off');
    const write = (line: string): void => {
      const entry = record(JSON.parse(line));
      if (entry['audit'] === true) this.audited.push(entry);
    };
    const log = pino({ level: 'info' }, { write });
    this.#secret = new SharedSecret({
      client: this.#client,
      namespace: NAMESPACE,
      name: KEYS_SECRET,
      log,
    });
    this.oauth = newOAuth({
      settings: { ...settings, throttle: { ...settings.throttle, ...throttle } },
      platform: { name: 'platform', namespace: NAMESPACE },
      issuer: () => this.issuer,
      client: this.#client,
      secret: this.#secret,
      admission: new Admission(),
      lookups: new Admission().lookups(),
      identity: `test-${Math.random()}`,
      machine: { cores: 2, threads: 4 },
      log,
      metrics: this.metrics,
    });
    const chain = openChain({
      router: this.oauth.router,
      signInPaths: (path) => this.oauth.isPublic(path),
      // The endpoints authenticate their callers themselves.
      authenticator: {
        name: 'test',
        authenticate: () => {
          throw newUnauthorized(new Error('the filter must not authenticate'));
        },
      },
      limits: { timeoutMs: 30_000 },
      errorFamilies: [this.oauth.errorFamily],
      signal: this.#stop.signal,
    });
    this.#server = createServer(tls, (incoming, response) => chain.serve(incoming, response, true));
  }

  /** The common issuer: the address of the first replica. */
  get issuer(): string {
    return this.#issuer ?? this.address.replace('127.0.0.1', this.#host);
  }

  /** The address of this replica. */
  get address(): string {
    return `https://127.0.0.1:${portOf(this.#server)}/oauth`;
  }

  /** Resolves when sign-in is available, also with all identity providers. */
  async start(): Promise<this> {
    await listenOnLoopback(this.#server);
    const { signal } = this.#stop;
    this.#running = Promise.all([this.#secret.run(signal), this.oauth.run(signal)]);
    await until(() => this.oauth.missing.length === 0);
    await this.untilProvidersWork();
    return this;
  }

  untilProvidersWork(): Promise<void> {
    return until(() => /^(none|(\w+: ok(; )?)+)$/.test(this.oauth.describeProviders()));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await closeNow(this.#server);
    await this.#running;
    this.#client.close();
  }

  ask(path: string, request?: SiteRequest): Promise<SiteResponse> {
    return askSite(new URL(path, this.address).href, request);
  }

  /** A fetch for openid-client that connects to this replica, regardless of the host in the URL. */
  readonly fetch: CustomFetch = async (url, { method, headers, body }) => {
    const { pathname, search } = new URL(url);
    const form = body instanceof URLSearchParams ? { form: body.toString() } : {};
    const response = await this.ask(`${pathname}${search}`, { method, headers, ...form });
    const given = Object.entries(response.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    );
    return new Response(response.text, { status: response.status, headers: given });
  };
}

export class OAuthCluster {
  readonly controlPlane: ControlPlane;
  /** PEM file of the replicas' CA. */
  readonly caFile: string;
  readonly dir: string;
  readonly #stop: AbortController;
  readonly #replicas: OAuthReplica[] = [];

  private constructor(controlPlane: ControlPlane, dir: string, stop: AbortController) {
    this.controlPlane = controlPlane;
    this.dir = dir;
    this.caFile = join(dir, 'ca.crt');
    this.#stop = stop;
  }

  static async start(): Promise<OAuthCluster> {
    const dir = await mkdtemp(join(tmpdir(), 'oauth-cluster-'));
    const stop = new AbortController();
    const controlPlane = await startControlPlane({
      dir: join(dir, 'control-plane'),
      signal: stop.signal,
      controllers: false,
    });
    const cluster = new OAuthCluster(controlPlane, dir, stop);
    await grant(controlPlane, 9443, stop.signal);
    await writeFile(cluster.caFile, controlPlane.ca);
    return cluster;
  }

  /** Starts two replicas. */
  async replicas(configuration?: object, host?: string): Promise<[OAuthReplica, OAuthReplica]> {
    return [await this.replica(configuration, {}, host), await this.replica(configuration)];
  }

  /**
   * Starts a further replica with the shipped permissions. `configuration`: section `oauth`. `throttle`: limits that replace those of the
   * configuration. `host`: host name of the issuer, if this is the first replica.
   */
  async replica(
    configuration: object = {},
    throttle: Partial<ThrottleLimits> = {},
    host = '127.0.0.1',
  ): Promise<OAuthReplica> {
    const { pki } = this.controlPlane;
    const tls = await pki.cluster.issueServer({ cn: 'oauth' }, { dns: ['localhost'], ip: ['127.0.0.1'] });
    const kubeconfig = await this.controlPlane.kubeconfigFor(SERVICE_ACCOUNT);
    const issuer = this.#replicas[0]?.issuer;
    const replica = await new OAuthReplica(kubeconfig, configuration, tls, issuer, host, throttle).start();
    this.#replicas.push(replica);
    return replica;
  }

  /** Creates a user with a password; resolves when all replicas have it. */
  async addUser(name: string, password: string, spec: User['spec'] = {}): Promise<void> {
    const [replica] = this.#replicas;
    if (!replica) throw new Error('there is no replica');
    const { oauth } = replica;
    const { signal } = this.#stop;
    const user = await oauth.users.create({ metadata: { name }, spec }, signal);
    const credential = {
      passwordHash: await oauth.hasher.hash(password, { caller: 'user test' }),
      userUID: String(user.metadata.uid),
      mustChange: false,
      changedAt: Date.now(),
    };
    await oauth.credentials.set(name, credential, signal);
    for (const { oauth: other } of this.#replicas) {
      await until(() => other.users.get(name) !== undefined && other.credentials.get(name) !== undefined);
    }
  }

  /** Writes a file that replicas can read. Returns its path. */
  async write(name: string, content: string): Promise<string> {
    const path = join(this.dir, name);
    await writeFile(path, content);
    return path;
  }

  /** The objects of a kind of the IAM API, such as `users`. `query`: with the question mark. */
  async objects(plural: string, query = ''): Promise<readonly IamObject[]> {
    const list = record(await this.controlPlane.client.get(`${IAM}/${plural}${query}`));
    return array(list['items']).map(readObject);
  }

  /** `path`: such as `users/alice`. */
  async object(path: string): Promise<IamObject> {
    return readObject(await this.controlPlane.client.get(`${IAM}/${path}`));
  }

  async create(
    kind: 'User' | 'Identity',
    plural: string,
    name: string,
    spec: object,
    statuses: readonly number[] = [201],
  ): Promise<void> {
    const body = { apiVersion: 'iam.platform.io/v1beta1', kind, metadata: { name }, spec };
    await this.controlPlane.client.expect(`${IAM}/${plural}`, { method: 'POST', body }, statuses);
  }

  /** Changes these members of the spec. */
  async patch(path: string, spec: object): Promise<void> {
    const contentType = 'application/merge-patch+json';
    const request = { method: 'PATCH', body: { spec }, contentType } as const;
    await this.controlPlane.client.expect(`${IAM}/${path}`, request, [200]);
  }

  async delete(path: string): Promise<void> {
    await this.controlPlane.client.expect(`${IAM}/${path}`, { method: 'DELETE' }, [200]);
  }

  /** Creates the Secret with the secrets of identity providers; `reset` deletes it. */
  async addProviderSecret(stringData: Readonly<Record<string, string>>): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: PROVIDER_SECRET }, stringData };
    await this.controlPlane.client.expect(SECRETS, { method: 'POST', body }, [201]);
  }

  /** Stops the replicas, and deletes users, secrets of identity providers, sessions and the throttle of failed logins. */
  async reset(): Promise<void> {
    for (const replica of this.#replicas.splice(0)) await replica.stop();
    for (const path of [
      ...['sessions', 'credentials', 'identities', 'authenticators', 'users'].map(
        (plural) => `${IAM}/${plural}`,
      ),
      `/api/v1/namespaces/${NAMESPACE}/configmaps/ks-apiserver-login-throttle`,
      `${SECRETS}/${PROVIDER_SECRET}`,
    ]) {
      await this.controlPlane.client.expect(path, { method: 'DELETE' }, [200, 404]);
    }
  }

  async stop(): Promise<void> {
    for (const replica of this.#replicas) await replica.stop();
    this.#stop.abort();
    await this.controlPlane.stop();
    await rm(this.dir, { recursive: true, force: true });
  }
}
