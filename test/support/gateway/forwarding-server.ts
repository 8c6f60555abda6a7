// The gateway behind the real filter chain and a plain-HTTP listener. Every caller is authenticated as `ada`, with any token
// or without one.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { KubeConfig } from '@kubernetes/client-node';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { newNotFound } from '../../../apis/meta/v1/errors.ts';
import type { RequestPools } from '../../../server/admission/admission.ts';
import type { App, AppOptions } from '../../../server/app.ts';
import type { Authenticator } from '../../../server/authentication/authenticator.ts';
import { bearerToken } from '../../../server/authentication/bearer-token.ts';
import type { UserInfo } from '../../../server/authentication/user.ts';
import { kubeConfigClass } from '../../../server/cluster/connection/client-node.ts';
import { RequestMetrics } from '../../../server/filters/request-metrics.ts';
import { Gateway } from '../../../server/gateway/forwarding.ts';
import { GatewayMetrics } from '../../../server/gateway/gateway-metrics.ts';
import {
  ImpersonatorToken,
  type ImpersonatorTokenOptions,
} from '../../../server/gateway/impersonator-token.ts';
import { proxiedRequests } from '../../../server/gateway/proxied-request.ts';
import { Upstream } from '../../../server/gateway/upstream.ts';
import { Listener, type ListenerLimits, serverOptions } from '../../../server/listener/listener.ts';
import { newListenerMetrics } from '../../../server/listener/listener-metrics.ts';
import { RecentWrites } from '../../../server/resources/recent-writes.ts';
import { openChain } from '../open-chain.ts';
import { requestPools } from '../request-pools.ts';

const ADA: UserInfo = { name: 'ada', uid: '', groups: ['system:authenticated'], extra: {} };
const silent = pino({ level: 'silent' });

/** The cluster that the gateway forwards to. */
export interface Cluster {
  readonly url: string;
  readonly ca: { readonly cert: string };
}

export interface ForwardingServerOptions {
  /** Called for each read of the kubeconfig. */
  readonly cluster: () => Cluster;
  readonly limits?: Partial<AppOptions['limits']>;
  readonly listenerLimits?: Partial<ListenerLimits>;
  /** Allowed CORS origins; none by default. */
  readonly allowedOrigins?: readonly string[];
  /** The option `gateway.proxyHost`. */
  readonly proxyHost?: string;
  /** Monotonic clock of the kubeconfig's refresh, in ms. */
  readonly now?: () => number;
  /** Monotonic clock of the filters, in ms. */
  readonly monotonic?: () => number;
  /** Timeout of a connection to kube-apiserver. */
  readonly connectTimeoutMs?: number;
  /** Called after a 401 of kube-apiserver; by default, the client gets the 401. */
  readonly rejection?: () => Promise<string | undefined>;
  /** Impersonates all callers with the token that this function resolves with. */
  readonly impersonator?: Pick<ImpersonatorTokenOptions, 'client' | 'now'>;
  /** By default, requests are not traced. */
  readonly tracing?: AppOptions['tracing'];
}

export class ForwardingServer {
  readonly chain: App;
  readonly pools: RequestPools;
  readonly #listener: Listener;
  readonly #stop: AbortController;

  private constructor(chain: App, listener: Listener, pools: RequestPools, stop: AbortController) {
    this.chain = chain;
    this.pools = pools;
    this.#listener = listener;
    this.#stop = stop;
  }

  static async start({
    cluster,
    limits,
    listenerLimits: ownLimits,
    allowedOrigins = [],
    proxyHost,
    now,
    monotonic = () => performance.now(),
    connectTimeoutMs,
    rejection = () => Promise.resolve(undefined),
    impersonator,
    tracing,
  }: ForwardingServerOptions): Promise<ForwardingServer> {
    const stop = new AbortController();
    const upstream = new Upstream(() => kubeConfig(cluster()), { now, connectTimeoutMs });
    stop.signal.addEventListener('abort', () => upstream.close());
    const registry = new Registry();
    const pools = requestPools();
    const gateway = new Gateway({
      accelerator: undefined,
      writes: new RecentWrites(() => false),
      upstream,
      pseudonym: 'ks-apiserver-test',
      impersonation: {
        mode: impersonator === undefined ? 'none' : 'certificates',
        token: new ImpersonatorToken({
          client: { json: () => Promise.reject(newNotFound({ group: '', resource: '' }, '')) },
          namespace: 'platform-system',
          serviceAccount: 'impersonator',
          log: silent,
          signal: stop.signal,
          ...impersonator,
        }),
        authorizer: { authorize: () => ({ allowed: false, reason: '' }) },
      },
      frontProxyHeaders: () => ['x-remote-'],
      rejection,
      metrics: new GatewayMetrics(registry, {
        requests: () => pools.gateway.held,
        streams: () => pools.gatewayStreams.held,
        trusted: () => true,
      }),
      monotonic: () => performance.now(),
    });
    const authenticator: Authenticator = {
      name: 'test',
      authenticate: (context) => {
        const text = bearerToken(context);
        if (impersonator !== undefined) context.credential = { kind: 'certificate' };
        else if (text !== undefined) context.credential = { kind: 'token', text, authenticator: 'test' };
        return ADA;
      },
    };
    const chain = openChain({
      handler: ({ response }) => void response.end('not forwarded'),
      authenticator,
      metrics: new RequestMetrics(registry),
      errorFamilies: [],
      allowedOrigins,
      pools,
      limits: { timeoutMs: 60_000, ...limits },
      monotonic,
      gateway: {
        authenticator,
        select: proxiedRequests([], proxyHost),
        serve: (context) => gateway.serve(context),
      },
      ...(tracing ? { tracing } : {}),
      signal: stop.signal,
    });
    const listenerLimits = {
      connections: 100,
      headers: 256 * 1024,
      handshakeTimeout: 10_000,
      headersTimeout: 30_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 95_000,
      ...ownLimits,
    };
    const listener = new Listener('insecure', createServer(serverOptions(listenerLimits)), {
      address: '127.0.0.1',
      port: 0,
      limits: listenerLimits,
      proxies: { hasAddress: () => false, hasCertificate: () => false },
      receiver: {
        request: (request, response) => chain.serve(request, response, true),
        upgrade: (request, socket, head) => chain.serveUpgrade(request, socket, head, true),
      },
      metrics: newListenerMetrics(registry),
      log: silent,
    });
    await listener.listen();
    return new ForwardingServer(chain, listener, pools, stop);
  }

  get port(): number {
    return this.#listener.address.port;
  }

  /** The number of open connections of clients. */
  get connections(): number {
    return this.#listener.connections;
  }

  async open(): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port: this.port, allowHalfOpen: true });
    await once(socket, 'connect');
    return socket;
  }

  /** Opens a connection, and sends the request line and headers with Host. */
  async send(lines: readonly string[], body: Buffer | string = '', host = 'gateway'): Promise<Socket> {
    const socket = await this.open();
    const [first = '', ...headers] = lines;
    socket.write(`${[first, `Host: ${host}`, ...headers].join('\r\n')}\r\n\r\n`, 'latin1');
    if (body.length > 0) socket.write(body);
    return socket;
  }

  /** Sends a request with `Connection: close`, and reads all bytes of the response. */
  async exchange(lines: readonly string[], body: Buffer | string = ''): Promise<string> {
    return readAll(await this.send([...lines, 'Connection: close'], body));
  }

  async stop(): Promise<void> {
    this.#listener.stopAccepting();
    this.#listener.destroyConnections();
    await this.#listener.closed;
    this.#stop.abort();
  }
}

/** Reads until the connection is closed or reset, and returns the bytes as Latin-1. */
export async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).resume();
  socket.on('error', () => undefined);
  socket.on('end', () => socket.end());
  if (!socket.destroyed) await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

/** Reads until the bytes contain `text`; returns all bytes so far as Latin-1. The connection stays open. */
export function readUntil(socket: Socket, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let seen = '';
  const onData = (chunk: Buffer): void => {
    seen += chunk.toString('latin1');
    if (!seen.includes(text)) return;
    socket.off('data', onData).pause();
    resolve(seen);
  };
  socket.on('data', onData).resume();
  socket.once('close', () => reject(new Error(`closed after ${JSON.stringify(seen)}`)));
  return promise;
}

function kubeConfig({ url, ca }: Cluster): KubeConfig {
  const config = new (kubeConfigClass())();
  const caData = Buffer.from(ca.cert).toString('base64');
  config.loadFromClusterAndUser(
    { name: 'test', server: url, caData, skipTLSVerify: false },
    { name: 'server', token: 'of the server' },
  );
  return config;
}
