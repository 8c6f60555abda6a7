// The connection to kube-apiserver: sockets, credentials and the translation of failures into StatusErrors. What is
// asked for is the callers' business: the reflector and the reviews beside it, the gateway later.
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
import type { ClusterRequestOptions } from './cluster-agent.ts';
import { CredentialSource, type Credentials } from './credentials.ts';
import { readBody, readError } from './response-body.ts';

export interface ConnectionOptions {
  /** See `kubeConfigSource`. Asked again whenever the credentials are refreshed, `anew` when they were refused. */
  readonly kubeConfig: (anew: boolean) => KubeConfig;
  /** How long credentials are used before they are read again, in ms; 10,000 when none is given. */
  readonly refreshMs?: number;
  readonly userAgent?: string;
  /** Told what has given no credentials for two seconds, and is waited for. */
  readonly slowCredentials?: (giver: string) => void;
  /** Told why they could not be read anew: those in hand are used on. */
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
      // The token may have been rotated under us: once more, with everything read anew.
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
   * Resolves when there are credentials, also those of a plugin that asks a person, which takes minutes; no request waits
   * longer than it would for its answer. Throws as open() does.
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
      throw newServiceUnavailable('the answer of kube-apiserver was cut or malformed', 1, { cause: error });
    }
  }

  /** Resolves when the cluster answers for the first time, whatever it says. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  /** Ends the idle connections; requests in flight end with their own signals. */
  close(): void {
    this.#credentials.close();
  }

  async #send(request: ClusterRequest, credentials: Credentials): Promise<IncomingMessage> {
    try {
      return await this.#attempt(request, credentials);
    } catch (error) {
      // A kept connection that the other side had just closed: nothing was served, so a read may be sent again.
      const idempotent = (request.method ?? 'GET') === 'GET';
      if (idempotent && error instanceof StaleConnectionError && !request.signal.aborted) {
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
      outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`));
    }, timeoutMs);
    outgoing.on('socket', (socket) => {
      if (!outgoing.reusedSocket) socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS).setNoDelay(true);
    });
    outgoing.on('response', (response) => {
      clearTimeout(timer);
      this.#answered.resolve();
      resolve(response);
    });
    outgoing.on('error', (error) => {
      clearTimeout(timer);
      // A server that was silent may still be working on it, and would be silent again.
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
      wanted: request.signal,
      crowd: request.crowd ?? '',
      ...(auth === undefined ? {} : { auth }),
    };
  }
}

function unreachable(cause: unknown): Error {
  return newServiceUnavailable('kube-apiserver cannot be reached', 1, { cause });
}

/** Node's own option `signal` does the same, but costs as much as all the rest of a small request. */
function endWith(outgoing: ClientRequest, signal: AbortSignal): void {
  let answer: IncomingMessage | undefined;
  const end = (): void => {
    // A request that is destroyed throws away what its answer holds: one that is whole would count as empty then.
    (answer ?? outgoing).destroy(new DOMException('the request was given up', 'AbortError'));
  };
  outgoing.once('response', (response) => {
    answer = response;
  });
  signal.addEventListener('abort', end, { once: true });
  outgoing.once('close', () => signal.removeEventListener('abort', end));
  if (signal.aborted) end();
}

class StaleConnectionError extends Error {
  constructor(cause: Error) {
    super('the kept connection was closed', { cause });
    this.name = 'StaleConnectionError';
  }
}

function sameIdentity(a: Credentials, b: Credentials): boolean {
  return (
    a.agent === b.agent && a.headers['Authorization'] === b.headers['Authorization'] && a.auth === b.auth
  );
}
