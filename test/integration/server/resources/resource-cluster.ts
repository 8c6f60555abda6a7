// Test fixture: a real control plane, and ks-apiserver in a child process.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { array, record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import type { KeyPair } from '../../../../hack/control-plane/certificate-authority.ts';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { until } from '../../../support/until.ts';
import { type Program, Workplace } from '../program.ts';

/** The group and version of the platform lists. */
export const LISTS = '/kapis/resources.platform.io/v1alpha3';

export type Fields = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; empty if the body is not JSON. */
  readonly body: Fields;
}

/** The credentials of a caller: a client certificate or a bearer token; without both, it is anonymous. */
export interface Credentials {
  readonly pair?: KeyPair;
  readonly token?: string;
}

export interface ResourceClusterOptions {
  /** Whether kube-controller-manager runs; false by default. */
  readonly controllers?: boolean;
  readonly extraApiserverFlags?: readonly string[];
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
  async open(path: string, headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
    const { pair, token } = this.#credentials;
    const sent = request({
      host: '127.0.0.1',
      ...this.#base,
      path,
      agent: this.#agent,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...pair,
    });
    sent.end();
    const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
    return incoming;
  }

  async ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const incoming = await this.open(path, headers);
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
  readonly #dir: string;
  readonly #workplace: Workplace;
  readonly #callers: Caller[] = [];

  private constructor(controlPlane: ControlPlane, dir: string, workplace: Workplace) {
    this.controlPlane = controlPlane;
    this.#dir = dir;
    this.#workplace = workplace;
  }

  static async start(options: ResourceClusterOptions = {}): Promise<ResourceCluster> {
    const dir = await mkdtemp(join(tmpdir(), 'resources-'));
    const controlPlane = await startControlPlane({
      dir,
      signal: new AbortController().signal,
      controllers: options.controllers ?? false,
      extraApiserverFlags: options.extraApiserverFlags ?? [],
    });
    return new ResourceCluster(controlPlane, dir, await Workplace.make());
  }

  /**
   * Starts a server with the kubeconfig of the administrator, and waits until it is ready. `configuration`: sections
   * that replace the defaults.
   */
  async serve(configuration: Fields = {}): Promise<Server> {
    const program = await this.#workplace.start({
      kubernetes: { kubeconfig: this.controlPlane.kubeconfig },
      oauth: { enabled: false },
      authorization: { allowCacheTTL: '1s', denyCacheTTL: '1s' },
      ...configuration,
    });
    const base = { port: await program.port('secure'), ca: await this.#workplace.ca() };
    const server = new Server(program, base, this, {
      pair: await this.certificate('admin', ['system:masters']),
    });
    await until(async () => (await server.admin.ask('/readyz')).status === 200);
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

  async delete(path: string): Promise<void> {
    await this.controlPlane.client.expect(path, { method: 'DELETE' }, [200, 202]);
  }

  /** Resolves when kube-apiserver allows, or denies, the operation to the user. */
  async reviewed(spec: object, allowed = true): Promise<void> {
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    await until(
      async () => (recordIn(await this.create(path, { spec }), 'status')['allowed'] === true) === allowed,
    );
  }

  async stop(): Promise<void> {
    for (const caller of this.#callers) caller.close();
    await this.#workplace.remove();
    await this.controlPlane.stop();
    await rm(this.#dir, { recursive: true, force: true });
  }
}

/** A running server. */
export class Server {
  readonly program: Program;
  readonly admin: Caller;
  readonly #base: { readonly port: number; readonly ca: string };
  readonly #cluster: ResourceCluster;

  constructor(
    program: Program,
    base: { readonly port: number; readonly ca: string },
    cluster: ResourceCluster,
    admin: Credentials,
  ) {
    this.program = program;
    this.#base = base;
    this.#cluster = cluster;
    this.admin = this.as(admin);
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

  /** The value of a metric without labels, or the sum over all labels. */
  async metric(name: string): Promise<number> {
    const { text } = await this.admin.ask('/metrics');
    const values = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'));
    return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
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
