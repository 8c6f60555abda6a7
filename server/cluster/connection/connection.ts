// HTTP connection to kube-apiserver: sends requests with the server's credentials, and converts failures into
// StatusErrors.
import {
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as plainRequest,
} from 'node:http';
import { request as secureRequest } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { newServiceUnavailable, StatusError } from '../../../apis/meta/v1/errors.ts';
import type { ClusterClient, ClusterRequest } from './client.ts';
import { type ClusterRequestOptions, isSwitched } from './cluster-agent.ts';
import { CredentialSource, type Credentials } from './credentials.ts';
import { readBody, readError, StalledError } from './response-body.ts';

export interface ConnectionOptions {
  /**
   * Loads the kubeconfig, see `kubeConfigSource`. Called at each refresh of the credentials. `reload` is true after
   * kube-apiserver has rejected them.
   */
  readonly kubeConfig: (reload: boolean) => KubeConfig;
  /** Refresh interval of the credentials in ms, 10,000 by default. */
  readonly refreshMs?: number;
  readonly userAgent?: string;
  /** Called with the source of the credentials when it has not responded for two seconds. */
  readonly slowCredentials?: (source: string) => void;
  /** Called when a refresh fails, and the previous credentials stay in use. */
  readonly keptCredentials?: (error: unknown) => void;
  /** A monotonic clock in ms. */
  readonly now?: () => number;
}

const HEADERS_TIMEOUT_MS = 10_000;
const TCP_KEEP_ALIVE_MS = 15_000;
const BODY_LIMIT = 64 << 20;

export class ClusterConnection implements ClusterClient {
  readonly #credentials: CredentialSource;
  readonly #userAgent: string;
  readonly #answered = Promise.withResolvers<void>();

  constructor(options: ConnectionOptions) {
    this.#credentials = new CredentialSource(
      options.kubeConfig,
      options.refreshMs ?? 10_000,
      options.now ?? (() => performance.now()),
      {
        ...(options.slowCredentials ? { slow: options.slowCredentials } : {}),
        ...(options.keptCredentials ? { kept: options.keptCredentials } : {}),
      },
    );
    this.#userAgent = options.userAgent ?? 'ks-apiserver';
  }

  async open(request: ClusterRequest): Promise<IncomingMessage> {
    const { signal, timeoutMs: ms = HEADERS_TIMEOUT_MS } = request;
    signal.throwIfAborted();
    let refusal: IncomingMessage | undefined;
    try {
      const credentials = await this.#credentials.within({ signal, ms });
      const response = await this.#send(request, credentials);
      if (response.statusCode !== 401) return response;
      // A rotated token: read the credentials again and retry once.
      refusal = response;
      const renewed = await this.#credentials.within({ signal, ms }, credentials);
      if (sameIdentity(renewed, credentials)) return response;
      response.destroy();
      return await this.#send(request, renewed);
    } catch (error) {
      refusal?.destroy();
      if (signal.aborted) throw signal.reason;
      throw unreachable(error);
    }
  }

  /**
   * Resolves when credentials are available. This can take minutes if an exec plugin prompts a person; requests have a
   * shorter limit. Throws the errors of open().
   */
  async authenticated(): Promise<void> {
    try {
      await this.#credentials.get();
    } catch (error) {
      throw unreachable(error);
    }
  }

  async json(request: ClusterRequest & { readonly json?: unknown }): Promise<unknown> {
    const { json, ...plain } = request;
    const response = await this.open({
      ...plain,
      headers: {
        accept: 'application/json',
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    try {
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) throw await readError(response, request.timeoutMs);
      const body = await readBody(response, BODY_LIMIT, request.timeoutMs);
      return body.length === 0 ? undefined : JSON.parse(body.toString('utf8'));
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      if (error instanceof StatusError) throw error;
      throw newServiceUnavailable('the response of kube-apiserver was truncated or malformed', 1, {
        cause: error,
      });
    }
  }

  /** Resolves at the first response of the cluster, with any HTTP status. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  /** Closes idle connections. Requests in flight end when their signals are aborted. */
  close(): void {
    this.#credentials.close();
  }

  async #send(request: ClusterRequest, credentials: Credentials): Promise<IncomingMessage> {
    try {
      return await this.#attempt(request, credentials);
    } catch (error) {
      // kube-apiserver can close an idle connection just when it is reused. A read is safe to retry.
      const isRead = request.isRead || (request.method ?? 'GET') === 'GET';
      if (isRead && error instanceof StaleConnectionError && !request.signal.aborted) {
        return await this.#attempt(request, credentials);
      }
      throw error;
    }
  }

  #attempt(request: ClusterRequest, credentials: Credentials): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const send = credentials.endpoint.secure ? secureRequest : plainRequest;
    const outgoing: ClientRequest = send(this.#optionsFor(request, credentials));
    endWith(outgoing, request.signal);
    const timeoutMs = request.timeoutMs ?? HEADERS_TIMEOUT_MS;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      outgoing.destroy(new StalledError(timeoutMs, 'response within'));
    }, timeoutMs);
    outgoing.on('socket', (socket) => {
      if (!outgoing.reusedSocket) socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS).setNoDelay(true);
    });
    outgoing.on('response', (response) => {
      clearTimeout(timer);
      if (isSwitched(response)) {
        outgoing.destroy();
        return reject(new Error('kube-apiserver switched the protocol of the connection'));
      }
      this.#answered.resolve();
      resolve(response);
    });
    outgoing.on('error', (error) => {
      clearTimeout(timer);
      // After a timeout kube-apiserver can still process the request, so the connection was not stale.
      reject(outgoing.reusedSocket && !late ? new StaleConnectionError(error) : error);
    });
    outgoing.end(request.body);
    return promise;
  }

  #optionsFor(request: ClusterRequest, credentials: Credentials): ClusterRequestOptions {
    const { endpoint, agent, auth } = credentials;
    const headers: OutgoingHttpHeaders = {
      'user-agent': this.#userAgent,
      ...credentials.headers,
      ...request.headers,
    };
    if (request.body !== undefined) headers['content-length'] = Buffer.byteLength(request.body);
    return {
      host: endpoint.host,
      port: endpoint.port,
      path: endpoint.basePath + request.path,
      method: request.method ?? 'GET',
      headers,
      agent,
      wanted: request,
      crowd: request.crowd ?? '',
      ...(auth === undefined ? {} : { auth }),
    };
  }
}

function unreachable(cause: unknown): Error {
  return newServiceUnavailable('kube-apiserver is unreachable', 1, { cause });
}

/** Aborts a request with its signal. Node's option `signal` costs as much as all other work of a small request. */
function endWith(outgoing: ClientRequest, signal: AbortSignal): void {
  let received: IncomingMessage | undefined;
  const end = (): void => {
    // Destroying the request would discard a complete response, whose body would then be read as empty.
    (received ?? outgoing).destroy(new DOMException('the request was aborted', 'AbortError'));
  };
  outgoing.once('response', (response) => {
    received = response;
  });
  signal.addEventListener('abort', end, { once: true });
  outgoing.once('close', () => signal.removeEventListener('abort', end));
  if (signal.aborted) end();
}

class StaleConnectionError extends Error {
  constructor(cause: Error) {
    super('the idle connection was closed', { cause });
    this.name = 'StaleConnectionError';
  }
}

function sameIdentity(a: Credentials, b: Credentials): boolean {
  return (
    a.agent === b.agent && a.headers['Authorization'] === b.headers['Authorization'] && a.auth === b.auth
  );
}
