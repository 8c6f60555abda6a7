// Connection to kube-apiserver: sends requests with the server's credentials, and converts failures into StatusErrors.
import type { KubeConfig } from '@kubernetes/client-node';
import { newServiceUnavailable, StatusError } from '../../../apis/meta/v1/errors.ts';
import { type JSONLimits, parseBoundedJSON } from '../../../apis/reading/bounded-json.ts';
import { abortableBy, send } from '../../upstream/send.ts';
import type { UpstreamResponse } from '../../upstream/upstream-response.ts';
import type { ClusterClient, ClusterRequest } from './client.ts';
import { CredentialSource, type Credentials } from './credentials.ts';
import { readBody, readError } from './response-body.ts';

interface ConnectionOptions {
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
const BODY_LIMIT = 64 << 20;
/** Sufficient for the discovery of ten thousand kinds. Metadata can be as deep as an object. */
const LIMITS: JSONLimits = { maxCost: 5_000_000, maxDepth: Number.POSITIVE_INFINITY };

export class ClusterConnection implements ClusterClient {
  readonly #credentials: CredentialSource;
  readonly #userAgent: string;

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

  async open(request: ClusterRequest): Promise<UpstreamResponse> {
    const { signal, timeoutMs: ms = HEADERS_TIMEOUT_MS } = request;
    signal.throwIfAborted();
    let refusal: UpstreamResponse | undefined;
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
      const status = response.statusCode;
      if (status < 200 || status > 299) throw await readError(response, request.timeoutMs);
      const body = await readBody(response, BODY_LIMIT, request.timeoutMs);
      return body.length === 0 ? undefined : parseBoundedJSON(body, LIMITS);
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      if (error instanceof StatusError) throw error;
      throw newServiceUnavailable('the response of kube-apiserver was truncated or malformed', 1, {
        cause: error,
      });
    }
  }

  /** Closes idle connections. Requests in flight end when their signals are aborted. */
  close(): void {
    this.#credentials.close();
  }

  async #send(request: ClusterRequest, credentials: Credentials): Promise<UpstreamResponse> {
    const { method = 'GET', path, body, signal, timeoutMs = HEADERS_TIMEOUT_MS } = request;
    return await send(credentials.pool, {
      method,
      path: credentials.endpoint.basePath + path,
      headers: this.#headersFor(request, credentials),
      body,
      isRead: request.isRead || method === 'GET',
      crowd: request.crowd ?? '',
      work: abortableBy(signal),
      responseMs: timeoutMs,
    });
  }

  /** Names and values in turn. A header of the request replaces one of the credentials. */
  #headersFor({ headers }: ClusterRequest, credentials: Credentials): string[] {
    const named = Object.entries({ 'User-Agent': this.#userAgent, ...credentials.headers, ...headers });
    return [...new Map(named.map(([name, value]) => [name.toLowerCase(), String(value)]))].flat();
  }
}

function unreachable(cause: unknown): Error {
  return newServiceUnavailable('kube-apiserver is unreachable', 1, { cause });
}

function sameIdentity(a: Credentials, b: Credentials): boolean {
  return a.pool === b.pool && a.headers['Authorization'] === b.headers['Authorization'];
}
