// Platform for tests of faults: a registered server without faults, and three replicas whose connections to
// kube-apiserver pass a proxy that injects faults.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { record, text } from '../../../apis/reading/unknown-value.ts';
import { Client } from '../../../hack/control-plane/client.ts';
import { SERVICE_ACCOUNT } from '../../../hack/extension/registration.ts';
import type { ServerProcess } from '../../../hack/extension/server-process.ts';
import { nodeName } from '../../../hack/simulation/realistic-node.ts';
import { freePort } from '../../../hack/system/ports.ts';
import { FaultyProxy } from '../../support/cluster/faulty-proxy.ts';
import { FreezingProxy } from '../../support/cluster/freezing-proxy.ts';
import { PASSWORD, PLATFORM_CLIENT, Platform } from '../platform.ts';

export const NODES = '/apis/resources.platform.io/v1alpha3/nodes';
const USER = 'alice';
const SERVER_NAMESPACE = 'platform-system';
const SERVER_NAME = 'ks-apiserver';
/** The token of the server in `faulty` and `ahead` is bound to this Secret. */
const TOKEN_SECRET = 'server-token';

/** Status codes of requests that depend on kube-apiserver in different ways. */
export interface Statuses {
  /** A read of a caller whose TokenReview and SubjectAccessReview may be cached. */
  readonly known: number;
  /** A read of a caller with a new token. */
  readonly unknown: number;
  /** A request that the gateway forwards. */
  readonly forwarded: number;
  readonly signIn: number;
}

export const WORKING: Statuses = { known: 200, unknown: 200, forwarded: 200, signIn: 200 };

/** A watch of a client. `text`: its events. */
export interface Watch {
  readonly text: string;
  readonly ended: boolean;
}

/** One server, as its clients see it. */
class Replica {
  readonly server: ServerProcess;
  readonly client: Client;
  readonly #platform: FaultPlatform;

  constructor(platform: FaultPlatform, server: ServerProcess) {
    this.#platform = platform;
    this.server = server;
    this.client = new Client(server.url, { ca: platform.ca });
  }

  get port(): number {
    return Number(new URL(this.server.url).port);
  }

  async status(path: string, token?: string): Promise<number> {
    return (await this.client.send(path, token === undefined ? {} : { token })).status;
  }

  known(): Promise<number> {
    return this.status(NODES, this.#platform.token);
  }

  async unknown(): Promise<number> {
    return this.status(NODES, await this.#platform.newToken());
  }

  forwarded(): Promise<number> {
    return this.status('/api/v1/namespaces/default', this.#platform.token);
  }

  async signIn(): Promise<number> {
    return (await this.grant({ grant_type: 'password', username: USER, password: PASSWORD })).status;
  }

  async statuses(): Promise<Statuses> {
    const requests = [this.known(), this.unknown(), this.forwarded(), this.signIn()] as const;
    const [known, unknown, forwarded, signIn] = await Promise.all(requests);
    return { known, unknown, forwarded, signIn };
  }

  async works(): Promise<boolean> {
    return JSON.stringify(await this.statuses()) === JSON.stringify(WORKING);
  }

  /** Requests tokens, or revokes one. */
  async grant(
    parameters: Readonly<Record<string, string>>,
    path = '/oauth/token',
  ): Promise<{ status: number; access: string; refresh: string }> {
    const form = new URLSearchParams({ ...parameters, ...PLATFORM_CLIENT });
    const { status, body } = await this.client.send(path, { method: 'POST', body: form });
    const tokens = body === '' ? {} : record(JSON.parse(body));
    return { status, access: text(tokens['access_token']), refresh: text(tokens['refresh_token']) };
  }

  async watch(): Promise<Watch> {
    const { ca, token } = this.#platform;
    const headers = { authorization: `Bearer ${token}` };
    const sent = request(new URL(`${NODES}?watch=true`, this.server.url), { ca, agent: false, headers });
    sent.end();
    const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
    const watch = { text: '', ended: false };
    incoming.setEncoding('utf8').on('data', (chunk: string) => {
      watch.text += chunk;
    });
    incoming.on('close', () => {
      watch.ended = true;
    });
    incoming.on('error', () => undefined);
    return watch;
  }
}

interface Parts {
  readonly platform: Platform;
  readonly network: FreezingProxy;
  readonly answers: FaultyProxy;
  readonly tokenFile: string;
  readonly plainPort: number;
}

export class FaultPlatform {
  readonly platform: Platform;
  /** Proxy of `remote`. */
  readonly network: FreezingProxy;
  /** Proxy of `faulty` and `ahead`. */
  readonly answers: FaultyProxy;
  /** Port for plain HTTP of `faulty`. */
  readonly plainPort: number;
  readonly #tokenFile: string;
  readonly #replicas: Replica[] = [];
  #token = '';
  #changes = 0;

  private constructor({ platform, network, answers, tokenFile, plainPort }: Parts) {
    this.plainPort = plainPort;
    this.platform = platform;
    this.network = network;
    this.answers = answers;
    this.#tokenFile = tokenFile;
  }

  static async start(): Promise<FaultPlatform> {
    const flag = '--requestheader-allowed-names=front-proxy-client,next-front-proxy';
    const platform = await Platform.start(3, { flagsIn: async () => [flag] });
    const { controlPlane } = platform;
    const network = await FreezingProxy.start(controlPlane.ports.apiserver);
    const answers = await FaultyProxy.start(controlPlane.url, { tls: { ca: controlPlane.ca } });
    const tokenFile = await platform.write('token', '');
    const faults = new FaultPlatform({ platform, network, answers, tokenFile, plainPort: await freePort() });
    try {
      await faults.#prepare();
      return faults;
    } catch (error) {
      await faults.stop();
      throw error;
    }
  }

  get ca(): string {
    return this.platform.controlPlane.ca;
  }

  /** The server without faults, which serves the aggregated APIs. */
  get main(): Replica {
    return this.#at(0);
  }

  /** Behind `network`. */
  get remote(): Replica {
    return this.#at(1);
  }

  /** Behind `answers`. */
  get faulty(): Replica {
    return this.#at(2);
  }

  /** Behind `answers`, with a clock that is 30 s ahead, and without a cache of TokenReviews. */
  get ahead(): Replica {
    return this.#at(3);
  }

  /** The token of a caller with read access. */
  get token(): string {
    return this.#token;
  }

  /** Another token of the same caller. */
  newToken(): Promise<string> {
    return this.#tokenOf('default', 'default');
  }

  /** Changes a node. Returns a text of the event. */
  async change(): Promise<string> {
    const mark = `change-${++this.#changes}`;
    const body = { metadata: { annotations: { fault: mark } } };
    const contentType = 'application/merge-patch+json';
    const path = `/api/v1/nodes/${nodeName(0)}`;
    await this.platform.controlPlane.client.expect(path, { method: 'PATCH', contentType, body }, [200]);
    return mark;
  }

  /** Writes a new token for `faulty` and `ahead`, and revokes the former one. Returns the former one. */
  async rotateServerToken(): Promise<string> {
    const former = await readFile(this.#tokenFile, 'utf8');
    const { client } = this.platform.controlPlane;
    const secrets = `/api/v1/namespaces/${SERVER_NAMESPACE}/secrets`;
    const name = `${TOKEN_SECRET}-${former.length > 0 ? 'next' : 'first'}`;
    const created = await client.expect(secrets, { method: 'POST', body: { metadata: { name } } }, [201]);
    const { uid } = record(record(JSON.parse(created.body))['metadata']);
    const bound = { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name, uid } };
    await writeFile(this.#tokenFile, await this.#tokenOf(SERVER_NAMESPACE, SERVER_NAME, bound));
    if (former !== '') await client.expect(`${secrets}/${TOKEN_SECRET}-first`, { method: 'DELETE' }, [200]);
    return former;
  }

  async stop(): Promise<void> {
    for (const { client } of this.#replicas) client.close();
    await this.platform.stop();
    await Promise.all([this.network.stop(), this.answers.stop()]);
  }

  #at(index: number): Replica {
    const replica = this.#replicas[index];
    if (!replica) throw new Error('the replica has not started');
    return replica;
  }

  async #prepare(): Promise<void> {
    const { platform } = this;
    for (const role of ['platform-nodes-reader', 'view']) {
      const user = '--serviceaccount=default:default';
      await platform.succeeding(
        'create',
        'clusterrolebinding',
        `reader-${role}`,
        `--clusterrole=${role}`,
        user,
      );
    }
    await platform.addUser(USER);
    this.#token = await this.newToken();
    await this.rotateServerToken();
    const { controlPlane } = platform;
    const direct = await readFile(await controlPlane.kubeconfigFor(SERVICE_ACCOUNT), 'utf8');
    const remote = await platform.write(
      'remote.kubeconfig',
      direct.replace(controlPlane.url, `https://127.0.0.1:${this.network.port}`),
    );
    const faulty = await platform.write('faulty.kubeconfig', this.#tokenKubeconfig());
    const replicas = await Promise.all([
      platform.startReplica('remote', { kubernetes: { kubeconfig: remote } }),
      platform.startReplica('faulty', {
        kubernetes: { kubeconfig: faulty },
        listeners: { insecure: { address: '127.0.0.1', port: this.plainPort } },
      }),
      platform.startReplica(
        'ahead',
        { kubernetes: { kubeconfig: faulty }, authentication: { tokenCacheTTL: '0s' } },
        [`${import.meta.dirname}/clock-ahead.ts`],
      ),
    ]);
    this.#replicas.push(...[platform.server, ...replicas].map((server) => new Replica(this, server)));
    await platform.signIn(USER);
  }

  /**
   * A kubeconfig with the token file. client-node reads the file as it reads the token of a pod, and refuses plain HTTP
   * unless TLS is not verified.
   */
  #tokenKubeconfig(): string {
    const config = { tokenFile: this.#tokenFile };
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'faulty', cluster: { server: this.answers.url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'server', user: { 'auth-provider': { name: 'tokenFile', config } } }],
      contexts: [{ name: 'faulty', context: { cluster: 'faulty', user: 'server' } }],
      'current-context': 'faulty',
    });
  }

  async #tokenOf(namespace: string, name: string, spec: object = {}): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
    const answer = await this.platform.controlPlane.client.expect(path, { method: 'POST', body }, [201]);
    return text(record(record(JSON.parse(answer.body))['status'])['token']);
  }
}
