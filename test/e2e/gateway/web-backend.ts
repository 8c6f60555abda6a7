// HTTPS server that kube-apiserver reaches as the kubelet of a node, through `nodes/NAME/proxy`. It stands for a web
// application behind the proxy of pods, Services and nodes, and records the requests that arrive.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Platform } from '../platform.ts';

/** An address of this machine. The proxy of kube-apiserver refuses loopback addresses. */
function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((of = []) => of);
  const found = addresses.find(({ family, internal }) => family === 'IPv4' && !internal);
  if (!found) throw new Error('this machine has only loopback addresses');
  return found.address;
}

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

interface BackendRequest {
  readonly url: string;
  readonly rawHeaders: readonly string[];
}

export class WebBackend {
  /** Path prefix at kube-apiserver. */
  readonly path: string;
  readonly requests: BackendRequest[] = [];
  /** By default, the path selects the response. */
  respond: Respond = respond;
  readonly #platform: Platform;
  readonly #server: Server;
  readonly #node: string;

  private constructor(platform: Platform, server: Server, node: string) {
    this.path = `/api/v1/nodes/${node}/proxy`;
    this.#node = node;
    this.#platform = platform;
    this.#server = server;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.requests.push({ url: request.url ?? '', rawHeaders: request.rawHeaders });
      this.respond(request, response);
    });
  }

  /** `name`: of the node. */
  static async start(platform: Platform, name: string): Promise<WebBackend> {
    const address = ownAddress();
    const names = { dns: ['localhost'], ip: [address] };
    const { cert, key } = await platform.controlPlane.pki.cluster.issueServer({ cn: 'backend' }, names);
    const server = createServer({ cert, key });
    server.listen(0, address);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { client } = platform.controlPlane;
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
    const status = {
      addresses: [{ type: 'InternalIP', address }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    };
    await client.send('/api/v1/nodes', { method: 'POST', body: node });
    await client.send(`/api/v1/nodes/${name}/status`, {
      method: 'PATCH',
      body: { status },
      contentType: 'application/merge-patch+json',
    });
    return new WebBackend(platform, server, name);
  }

  async stop(): Promise<void> {
    await this.#platform.controlPlane.client.send(`/api/v1/nodes/${this.#node}`, { method: 'DELETE' });
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const PAGE = '<!doctype html><title>backend</title>\n';

/** Every response sets cookies, one of them with a name of the sign-in pages. */
function respond({ url = '' }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Set-Cookie', ['__Host-sign-in=forged; Path=/; Secure', 'theme=dark']);
  response.setHeader('Clear-Site-Data', '"cookies"');
  if (url.endsWith('/redirect')) {
    response.writeHead(302, { Location: 'https://other.example/' }).end();
  } else if (url.endsWith('/json')) {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  } else if (url.endsWith('/twice')) {
    response.writeHead(200, { 'Content-Type': ['text/plain', 'text/html'] }).end(PAGE);
  } else if (url.endsWith('/untyped')) {
    response.writeHead(200).end(PAGE);
  } else {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(PAGE);
  }
}
