// Test fixture: a real control plane, and ks-apiserver in the process of the test.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { array, record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import type { KeyPair } from '../../../../hack/control-plane/certificate-authority.ts';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { freePort } from '../../../../hack/system/ports.ts';
import { completeConfig } from '../../../../server/config/config.ts';
import { readEnvironment } from '../../../../server/config/environment.ts';
import { createLogger } from '../../../../server/observability/logger.ts';
import type { KindLimits } from '../../../../server/resources/kinds/followed-kinds-options.ts';
import { run } from '../../../../server/server.ts';
import { LiveEvents } from '../../../support/platform/live-events.ts';
import { until } from '../../../support/until.ts';

/** The group and version of the platform lists. */
export const LISTS = '/kapis/resources.platform.io/v1alpha3';

export type Fields = Readonly<Record<string, unknown>>;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; empty if the body is not JSON. */
  readonly body: Fields;
}

/** The credentials of a caller: a client certificate or a bearer token; without both, it is anonymous. */
interface Credentials {
  readonly pair?: KeyPair;
  readonly token?: string;
}

/** A page of a list. */
interface Page {
  readonly status: number;
  readonly body: Fields;
  /** Names of the items. */
  readonly names: readonly string[];
}

/** One caller of one server. */
export class Caller {
  readonly #base: { readonly port: number; readonly ca: string };
  readonly #credentials: Credentials;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(base: { readonly port: number; readonly ca: string }, credentials: Credentials) {
    this.#base = base;
    this.#credentials = credentials;
  }

  /** Resolves with the response headers; the caller of this method reads the body. */
  async open(
    path: string,
    headers: Readonly<Record<string, string>> = {},
    form?: URLSearchParams,
  ): Promise<IncomingMessage> {
    const { pair, token } = this.#credentials;
    const sent = request({
      host: '127.0.0.1',
      ...this.#base,
      path,
      method: form ? 'POST' : 'GET',
      agent: this.#agent,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...pair,
    });
    sent.end(form?.toString());
    const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
    return incoming;
  }

  async ask(
    path: string,
    headers: Readonly<Record<string, string>> = {},
    form?: URLSearchParams,
  ): Promise<Answer> {
    const incoming = await this.open(path, headers, form);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const isJSON = body !== '' && String(incoming.headers['content-type']).startsWith('application/json');
    return {
      status: incoming.statusCode ?? 0,
      headers: incoming.headers,
      text: body,
      body: isJSON ? record(JSON.parse(body)) : {},
    };
  }

  /** Resolves with the body of a response with status 200; else rejects with the request and the response. */
  async list(path: string): Promise<Fields> {
    const answer = await this.ask(path);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
    return answer.body;
  }

  close(): void {
    this.#agent.destroy();
  }
}

export class ResourceCluster {
  readonly controlPlane: ControlPlane;
  readonly dir: string;
  readonly #stop: AbortController;
  readonly #servers: Server[] = [];
  readonly #callers: Caller[] = [];

  private constructor(controlPlane: ControlPlane, dir: string, stop: AbortController) {
    this.controlPlane = controlPlane;
    this.dir = dir;
    this.#stop = stop;
  }

  /** `controllers`: whether controllers run. */
  static async start({
    controllers = false,
    extraApiserverFlags = [],
  }: {
    readonly controllers?: boolean;
    readonly extraApiserverFlags?: readonly string[];
  } = {}): Promise<ResourceCluster> {
    const dir = await mkdtemp(join(tmpdir(), 'resource-cluster-'));
    const stop = new AbortController();
    const controlPlane = await startControlPlane({
      dir: join(dir, 'control-plane'),
      signal: stop.signal,
      controllers,
      extraApiserverFlags,
    });
    return new ResourceCluster(controlPlane, dir, stop);
  }

  /**
   * Starts a server with the permissions of the administrator, and waits until it is ready. `sections`: sections of its
   * configuration, which replace the defaults.
   */
  async serve(sections: Fields = {}, kindLimits: Partial<KindLimits> = {}): Promise<Server> {
    const { pki, kubeconfig, ca } = this.controlPlane;
    const port = await freePort();
    const tls = await pki.cluster.issueServer({ cn: 'server' }, { dns: ['localhost'], ip: ['127.0.0.1'] });
    const file = (name: string): string => join(this.dir, `${port}-${name}`);
    const [certFile, keyFile, config] = [file('tls.crt'), file('tls.key'), file('config.yaml')];
    await writeFile(certFile, tls.cert);
    await writeFile(keyFile, tls.key);
    const configuration = {
      apiVersion: 'config.platform.io/v1alpha1',
      kind: 'APIServerConfiguration',
      listeners: {
        secure: { address: '127.0.0.1', port, certFile, keyFile },
        insecure: { enabled: false },
      },
      kubernetes: { kubeconfig },
      registration: { manageCABundle: false },
      logging: { enabled: false },
      oauth: { enabled: false },
      authorization: { allowCacheTTL: '1s' },
      shutdown: { readinessDelay: '0s' },
      ...sections,
    };
    await writeFile(config, stringify(configuration));
    const completed = await completeConfig({
      config,
      overrides: [],
      environment: readEnvironment({}, 'test'),
      workingDirectory: this.dir,
    });
    const log = createLogger({ level: 'warn', format: 'json' }, { write: () => undefined });
    const admin = { pair: await this.certificate('admin', ['system:masters']) };
    const server = new Server({ port, ca }, this, admin, (stop) => run(completed, stop, log, kindLimits));
    this.#servers.push(server);
    await until(() =>
      server.admin.ask('/readyz').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    return server;
  }

  /** Registers a caller, whose connections stop() closes. */
  caller(base: { readonly port: number; readonly ca: string }, credentials: Credentials): Caller {
    const caller = new Caller(base, credentials);
    this.#callers.push(caller);
    return caller;
  }

  /** A caller of kube-apiserver itself. */
  direct(credentials: Credentials): Caller {
    const { ports, ca } = this.controlPlane;
    return this.caller({ port: ports.apiserver, ca }, credentials);
  }

  certificate(cn: string, groups: readonly string[] = []): Promise<KeyPair> {
    return this.controlPlane.pki.issueClient({ cn, ...(groups.length > 0 ? { o: groups } : {}) });
  }

  /** Creates an object; returns it as kube-apiserver stored it. */
  async create(path: string, body: object): Promise<Fields> {
    const answer = await this.controlPlane.client.expect(path, { method: 'POST', body }, [200, 201]);
    return record(JSON.parse(answer.body));
  }

  /** Applies a merge patch, for instance to `…/status`. */
  async patch(path: string, body: object): Promise<Fields> {
    const contentType = 'application/merge-patch+json';
    const answer = await this.controlPlane.client.expect(path, { method: 'PATCH', body, contentType }, [200]);
    return record(JSON.parse(answer.body));
  }

  /** Binds a ClusterRole in a namespace; without one, in all namespaces. `subject`: the name of a user, or a subject. */
  async bind(role: string, subject: string | Fields, namespace = ''): Promise<void> {
    const apiGroup = 'rbac.authorization.k8s.io';
    const bound = typeof subject === 'string' ? { kind: 'User', name: subject, apiGroup } : subject;
    const place = namespace === '' ? 'clusterrolebindings' : `namespaces/${namespace}/rolebindings`;
    await this.create(`/apis/${apiGroup}/v1/${place}`, {
      metadata: { name: `${role}-${text(bound['name'])}` },
      roleRef: { apiGroup, kind: 'ClusterRole', name: role },
      subjects: [bound],
    });
  }

  async delete(path: string): Promise<void> {
    await this.controlPlane.client.expect(path, { method: 'DELETE' }, [200, 202]);
  }

  /** Creates an object of a new kind: kube-apiserver serves the kind some time after its definition. */
  async createSoon(path: string, body: object): Promise<void> {
    await until(async () => {
      const { status } = await this.controlPlane.client.send(path, { method: 'POST', body });
      return status === 201;
    });
  }

  async exists(path: string): Promise<boolean> {
    return (await this.controlPlane.client.send(path)).status === 200;
  }

  /** Resolves when kube-apiserver allows, or denies, the operation to the user. */
  async reviewed(spec: object, allowed = true): Promise<void> {
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    await until(
      async () => (recordIn(await this.create(path, { spec }), 'status')['allowed'] === true) === allowed,
    );
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) await server.stop();
    for (const caller of this.#callers) caller.close();
    await this.controlPlane.stop();
    this.#stop.abort();
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** A running server. */
export class Server {
  readonly admin: Caller;
  readonly #base: { readonly port: number; readonly ca: string };
  readonly #cluster: ResourceCluster;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(
    base: { readonly port: number; readonly ca: string },
    cluster: ResourceCluster,
    admin: Credentials,
    running: (stop: AbortSignal) => Promise<void>,
  ) {
    this.#base = base;
    this.#cluster = cluster;
    this.admin = this.as(admin);
    this.#running = running(this.#stop.signal);
  }

  /** Stops the server gracefully. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  as(credentials: Credentials): Caller {
    return this.#cluster.caller(this.#base, credentials);
  }

  anonymous(): Caller {
    return this.as({});
  }

  async asUser(cn: string, groups: readonly string[] = []): Promise<Caller> {
    return this.as({ pair: await this.#cluster.certificate(cn, groups) });
  }

  /**
   * Resolves when the list has the current objects of the cluster. `resource`: in our paths, `source`: the path of the
   * list of kube-apiserver.
   */
  async caughtUp(resource: string, source: string): Promise<void> {
    await until(async () => {
      const [ours, theirs] = await Promise.all([
        this.admin.list(`${LISTS}/${resource}`),
        this.#cluster.controlPlane.client.get(source),
      ]);
      return statesOf(ours) === statesOf(theirs);
    });
  }

  /** Returns a page of a list. `path`: below the platform path, for instance `pods?limit=1`. */
  async page(path: string, caller = this.admin): Promise<Page> {
    const { status, body } = await caller.ask(`${LISTS}/${path}`);
    const names = array(body['items']).map((item) => text(recordIn(item, 'metadata')['name']));
    return { status, body, names };
  }

  /** Opens a live list. */
  async live(path: string, caller = this.admin): Promise<LiveEvents> {
    const response = await caller.open(`${LISTS}/${path}`, { accept: 'text/event-stream' });
    if (response.statusCode === 200) return new LiveEvents(response);
    response.destroy();
    throw new Error(`${path}: ${response.statusCode}`);
  }

  /** Returns an access token of the password grant. */
  async signIn(username: string, password: string): Promise<string> {
    const client = { client_id: 'platform', client_secret: 'platform' };
    const form = new URLSearchParams({ grant_type: 'password', ...client, username, password });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await this.anonymous().ask('/oauth/token', headers, form);
    if (answer.status !== 200) throw new Error(answer.text);
    return text(answer.body['access_token']);
  }

  /** Returns the samples of a metric by their labels, for instance `{resource="pods"}`. */
  async samples(name: string): Promise<ReadonlyMap<string, number>> {
    const { text: lines } = await this.admin.ask('/metrics');
    const samples = lines.matchAll(new RegExp(`^${name}(\\{.*\\})? (\\S+)$`, 'gm'));
    return new Map([...samples].map(([, labels = '', value]) => [labels, Number(value)]));
  }

  /** Returns the number of complete lists of each kind that the server has requested from the cluster. */
  async lists(): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    for (const [labels, count] of await this.samples('reflector_lists_total')) {
      const kind = /resource="([^"]*)"/.exec(labels)?.[1] ?? '';
      counts[kind] = (counts[kind] ?? 0) + count;
    }
    return counts;
  }

  /** The value of a metric without labels, or the sum over all labels. */
  async metric(name: string): Promise<number> {
    return [...(await this.samples(name)).values()].reduce((sum, value) => sum + value, 0);
  }
}

/** The objects of a list and their versions, in one order. */
function statesOf(list: unknown): string {
  return array(record(list)['items'])
    .map((item) => recordIn(item, 'metadata'))
    .map(({ uid, resourceVersion }) => `${text(uid)} ${text(resourceVersion)}`)
    .sort()
    .join();
}
