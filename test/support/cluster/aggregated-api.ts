// Test fixture: an aggregated API with one cluster-scoped kind, by default `things`, behind an APIService of a real kube-apiserver.
// Each caller sees only its own objects, and the test can replace every response.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Client } from '../../../hack/control-plane/client.ts';
import type { ControlPlane } from '../../../hack/control-plane/control-plane.ts';
import { closeNow, listenOnLoopback } from '../loopback.ts';
import { list, send } from './scripted-cluster.ts';

const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const SERVICE = 'this-machine';

interface ThingsRequest {
  readonly url: URL;
  readonly isWatch: boolean;
  /** The user that kube-apiserver has authenticated. */
  readonly caller: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Returns a thing that only `owner` sees. */
export function thing(name: string, owner: string, resourceVersion = '1'): object {
  return { metadata: { name, uid: `uid-${name}`, resourceVersion }, spec: { owner } };
}

/** The kind of an aggregated API. */
interface AggregatedKind {
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
}

const THINGS: AggregatedKind = { version: 'v1', plural: 'things', kind: 'Thing' };

export class AggregatedAPI {
  readonly group: string;
  readonly #kind: AggregatedKind;
  readonly requests: ThingsRequest[] = [];
  readonly #server: Server;
  readonly #client: Client;
  /** Responds to lists and watches of things. */
  respond: (request: ThingsRequest) => void;

  private constructor(group: string, kind: AggregatedKind, server: Server, client: Client) {
    this.group = group;
    this.#kind = kind;
    this.#server = server;
    this.#client = client;
    this.respond = (request) => this.#filtered(request);
  }

  /** The callers who own an object; each sees its own, and a ServiceAccount of the platform sees all. */
  owners: readonly string[] = [];

  /** Starts the API. `register` makes kube-apiserver forward to it. */
  static async start({ pki, client }: ControlPlane, group: string, kind = THINGS): Promise<AggregatedAPI> {
    const tls = await pki.cluster.issueServer({ cn: 'api' }, { dns: ['localhost'], ip: ['127.0.0.1'] });
    const server = createServer(tls);
    const api = new AggregatedAPI(group, kind, server, client);
    server.on('request', (request, response) => api.#handle(request, response));
    await listenOnLoopback(server);
    return api;
  }

  get #root(): string {
    return `/apis/${this.group}/${this.#kind.version}`;
  }

  /** Name of the APIService. */
  get #name(): string {
    return `${this.#kind.version}.${this.group}`;
  }

  get path(): string {
    return `${this.#root}/${this.#kind.plural}`;
  }

  /** The `spec` of the APIService. */
  get spec(): object {
    const address = this.#server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    return {
      group: this.group,
      version: this.#kind.version,
      groupPriorityMinimum: 1000,
      versionPriority: 10,
      insecureSkipTLSVerify: true,
      service: { namespace: 'default', name: SERVICE, port },
    };
  }

  async register(): Promise<void> {
    await this.#client.send('/api/v1/namespaces/default/services', {
      method: 'POST',
      body: { metadata: { name: SERVICE }, spec: { type: 'ExternalName', externalName: 'localhost' } },
    });
    const body = { metadata: { name: this.#name }, spec: this.spec };
    await this.#client.expect(API_SERVICES, { method: 'POST', body }, [201]);
  }

  /** Replaces the APIService that kube-apiserver manages for a CustomResourceDefinition of the same group. */
  async takeOver(): Promise<void> {
    const labels = { 'kube-aggregator.kubernetes.io/automanaged': null };
    const contentType = 'application/merge-patch+json';
    const body = { metadata: { labels }, spec: this.spec };
    await this.#client.expect(`${API_SERVICES}/${this.#name}`, { method: 'PATCH', body, contentType }, [200]);
  }

  async stop(): Promise<void> {
    await this.#client.send(`${API_SERVICES}/${this.#name}`, { method: 'DELETE' });
    await closeNow(this.#server);
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'https://api');
    if (url.pathname === this.path) {
      const caller = String(request.headers['x-remote-user'] ?? '');
      const isWatch = url.searchParams.get('watch') === 'true';
      const things = { url, isWatch, caller, request, response };
      this.requests.push(things);
      return this.respond(things);
    }
    const isDiscovery = url.pathname === this.#root;
    response.writeHead(isDiscovery ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isDiscovery ? this.#discovery() : {}));
  }

  #discovery(): object {
    const { version, plural, kind } = this.#kind;
    return {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: `${this.group}/${version}`,
      resources: [
        {
          name: plural,
          singularName: plural.replace(/s$/, ''),
          namespaced: false,
          kind,
          verbs: ['get', 'list', 'watch'],
        },
      ],
    };
  }

  #filtered({ isWatch, caller, response }: ThingsRequest): void {
    // As an API that ignores WatchList and sends no bookmarks.
    if (isWatch) return send(response, '');
    const seesAll = caller.startsWith('system:serviceaccount:platform-system:');
    const seen = this.owners.filter((owner) => seesAll || owner === caller);
    const things = seen.map((owner) => thing(`of-${owner.split(':').at(-1)}`, owner));
    list(
      response,
      1,
      things.map((object) => JSON.stringify(object)),
    );
  }
}
