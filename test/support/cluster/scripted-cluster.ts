// Fake kube-apiserver over plain HTTP, in the test process. Each test defines the responses.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { KubeConfig } from '@kubernetes/client-node';
import { ClusterConnection } from '../../../server/cluster/connection/connection.ts';
import { useExecPlugins } from '../../../server/cluster/connection/exec-plugins.ts';
import { closeNow, listenOnLoopback, portOf } from '../loopback.ts';

/** Kinds of reflector requests, distinguished by their parameters. */
type RequestKind = 'stream' | 'watch' | 'page' | 'position';

export interface Call {
  readonly kind: RequestKind;
  readonly url: URL;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A fake kube-apiserver that passes each request to a function of the test. */
export class ScriptedCluster {
  readonly calls: Call[] = [];
  readonly #server: Server;

  private constructor(answer: (call: Call) => void) {
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://cluster');
      const call = { kind: kindOf(url), url, request, response };
      this.calls.push(call);
      answer(call);
    });
  }

  static async start(answer: (call: Call) => void): Promise<ScriptedCluster> {
    const cluster = new ScriptedCluster(answer);
    await listenOnLoopback(cluster.#server);
    return cluster;
  }

  get kinds(): RequestKind[] {
    return this.calls.map(({ kind }) => kind);
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  connect(kubeConfig = kubeConfigFor(this.url)): ClusterConnection {
    return new ClusterConnection({ kubeConfig });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  stop(): Promise<void> {
    return closeNow(this.#server);
  }
}

export function kubeConfigFor(server: string, user: object = {}): () => KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'c', server, skipTLSVerify: true }, { name: 'u', ...user });
  useExecPlugins(config, { inherited: process.env });
  return () => config;
}

/** Returns the text of a kubeconfig with one user. `cluster`: how to verify the server; not at all by default. */
export function kubeConfigText(
  server: string,
  user: object,
  cluster: object = { 'insecure-skip-tls-verify': true },
): string {
  return JSON.stringify({
    clusters: [{ name: 'c', cluster: { server, ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}

function kindOf({ searchParams }: URL): RequestKind {
  if (searchParams.get('watch') !== 'true') {
    return searchParams.get('limit') === '1' ? 'position' : 'page';
  }
  return searchParams.get('sendInitialEvents') === 'true' ? 'stream' : 'watch';
}

/** Writes events of a watch, beginning with the headers. */
export function send(response: ServerResponse, ...events: readonly string[]): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/json' });
  response.write(events.map((event) => `${event}\n`).join(''));
}

export const event = (type: string, object: Buffer | string): string =>
  `{"type":"${type}","object":${object.toString()}}`;

export function bookmark(resourceVersion: number, initialEventsEnd = false): string {
  const annotations = initialEventsEnd ? { 'k8s.io/initial-events-end': 'true' } : {};
  const metadata = { resourceVersion: String(resourceVersion), annotations };
  return event('BOOKMARK', JSON.stringify({ kind: 'Thing', apiVersion: 'v1', metadata }));
}

export function status(code: number, reason: string, message = reason): string {
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code });
}

export function refuse(response: ServerResponse, code: number, reason: string, message?: string): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(status(code, reason, message));
}

/** Returns a list of `items`. With the continue token `next` it is one page of a list. */
export function list(
  response: ServerResponse,
  resourceVersion: number,
  items: readonly (Buffer | string)[] = [],
  next = '',
): void {
  const metadata = JSON.stringify({
    resourceVersion: String(resourceVersion),
    ...(next ? { continue: next } : {}),
  });
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`{"kind":"ThingList","apiVersion":"v1","metadata":${metadata},"items":[${items.join(',')}]}`);
}
