// HTTP client for OpenSearch and Elasticsearch: connections, TLS, credentials, deadlines, retries, and the mapping of
// failures to StatusErrors. Callers build the requests. The file also has the type checks for the JSON of responses.
import type { IncomingMessage } from 'node:http';
import { Client, errors } from '@opensearch-project/opensearch';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { isRecord } from '../../../../apis/reading/unknown-value.ts';
import { wholeBody } from '../../../cluster/connection/whole-body.ts';
import { boundedSignal } from '../../../concurrency/bounded-signal.ts';
import type { Call } from '../../log-store.ts';
import { MAX_PAGE_BYTES, newPageTooLong } from '../../page-limit.ts';
import { newStoreTimeout, newStoreUnavailable } from '../../store-errors.ts';
import { CredentialFiles, type CredentialOptions, Silence } from '../store-connection.ts';
import { errorOf, isMissing, STORE } from './error-response.ts';

export interface ConnectionOptions extends CredentialOptions {
  /** URLs of the nodes, such as `https://host:9200`. */
  readonly urls: readonly string[];
  /** A monotonic clock in ms. */
  readonly now?: () => number;
}

export interface StoreRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body?: string;
  /** Whether the request is retried if the connection closes without a response; default: true. */
  readonly idempotent?: boolean;
}

/** Added to the timeout of the request, because the store checks its own timeout with a delay. */
const GRACE_MS = 250;
/** Maximum size of an error response, which can list a reason for each of a thousand shards. */
const MAX_ERROR_BYTES = 4 << 20;

interface Session {
  readonly client: Client;
  readonly ca: string | undefined;
  requests: number;
}

export class Connection {
  readonly #urls: readonly string[];
  readonly #credentials: CredentialFiles;
  readonly #silence: Silence;
  #session: Session | undefined;

  constructor(options: ConnectionOptions) {
    this.#urls = options.urls;
    const now = options.now ?? (() => performance.now());
    this.#credentials = new CredentialFiles(STORE, options, now);
    this.#silence = new Silence(now);
  }

  /**
   * Returns the body of a successful response; undefined if an index or a point in time does not exist. Throws the
   * reason of an aborted signal, StoreTimeout at the deadline, newPageTooLong() for a body over the limit, else
   * errorOf().
   */
  async request(request: StoreRequest, call: Call): Promise<string | undefined> {
    using bounded = boundedSignal(call.signal, Math.max(1, Math.ceil(call.timeoutMs)) + GRACE_MS);
    try {
      return await this.#attempts(request, bounded.signal);
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason;
      if (bounded.isLate) {
        this.#markDead(error);
        throw newStoreTimeout(STORE, { silentMs: this.#silence.ms });
      }
      if (error instanceof StatusError) throw error;
      throw newStoreUnavailable(STORE, error);
    }
  }

  close(): void {
    if (this.#session) release(this.#session);
    this.#session = undefined;
  }

  async #attempts(request: StoreRequest, signal: AbortSignal): Promise<string | undefined> {
    // A retry helps if the store has closed a keep-alive connection, or if another node is available.
    const attempts = Math.max(2, this.#urls.length);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(request, signal);
      } catch (error) {
        const isUnanswered = error instanceof Error && error.name === 'ConnectionError';
        const mayRetry = isUnanswered && (request.idempotent !== false || wasNeverSent(error));
        if (!mayRetry || attempt >= attempts) throw error;
      }
    }
  }

  /** Skips a node for at least a minute after a timeout. The client library does so only for refused connections. */
  #markDead(error: unknown): void {
    if (!(error instanceof errors.RequestAbortedError)) return;
    const node = error.meta.meta.connection;
    if (node) this.#session?.client.connectionPool.markDead(node);
  }

  async #attempt(request: StoreRequest, signal: AbortSignal): Promise<string | undefined> {
    const { authorization, ca } = await this.#credentials.read();
    signal.throwIfAborted();
    const session = this.#sessionFor(ca);
    session.requests++;
    try {
      this.#silence.requestSent();
      const { status, text, retryAfter } = await exchange(
        session.client,
        request,
        authorization,
        signal,
        () => this.#silence.responded(),
      );
      if (status >= 200 && status < 300) return text;
      if (isMissing(status, text)) return undefined;
      throw errorOf(status, text, retryAfter);
    } finally {
      session.requests--;
      if (session !== this.#session && session.requests === 0) release(session);
    }
  }

  /** A changed CA requires a new client: connections that were verified with the old CA must not be reused. */
  #sessionFor(ca: string | undefined): Session {
    const current = this.#session;
    if (current && current.ca === ca) return current;
    const client = new Client({
      nodes: [...this.#urls],
      maxRetries: 0,
      resurrectStrategy: 'optimistic',
      enableMetaHeader: false,
      agent: { keepAlive: true, maxSockets: 256, maxFreeSockets: 32 },
      ssl: { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
    });
    this.#session = { client, ca, requests: 0 };
    if (current?.requests === 0) release(current);
    return this.#session;
  }
}

/** Compares messages, because the client library drops the code of a socket error. */
function wasNeverSent({ message }: Error): boolean {
  return /^connect E[A-Z]+ /.test(message);
}

function release({ client }: Session): void {
  client.close().catch(() => undefined);
}

async function exchange(
  client: Client,
  { method, path, query, body }: StoreRequest,
  authorization: string | undefined,
  signal: AbortSignal,
  onResponse: () => void,
): Promise<{ status: number; text: string; retryAfter: string | undefined }> {
  const sent = client.transport.request(
    {
      method,
      path,
      ...(query === undefined ? {} : { querystring: { ...query } }),
      ...(body === undefined ? {} : { body }),
    },
    {
      asStream: true,
      // In effect disables the idle timeout of sockets: the signal is the deadline.
      requestTimeout: 24 * 3_600_000,
      headers: authorization === undefined ? {} : { authorization },
    },
  );
  // An event listener must not return the promise of abort(), because its rejection would be unhandled.
  const abort = (): void => {
    sent.abort();
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    const { body: stream, statusCode } = await sent;
    const status = statusCode ?? 0;
    onResponse();
    const response = stream as IncomingMessage;
    const text = await readText(response, status < 300);
    // Needed because Node ends the stream of an aborted response without an error.
    signal.throwIfAborted();
    return { status, text, retryAfter: response.headers['retry-after'] };
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Reads the body. A successful response above its maximum throws newPageTooLong(), because its lines are too long. */
async function readText(response: IncomingMessage, isSuccess: boolean): Promise<string> {
  try {
    const body = await wholeBody(response, isSuccess ? MAX_PAGE_BYTES : MAX_ERROR_BYTES, {
      tooLong: isSuccess
        ? newPageTooLong
        : () => new Error(`status ${response.statusCode}, with a long body`),
      truncated: (cause = new Error('the response was truncated')) => cause,
    });
    return body.toString('utf8');
  } catch (error) {
    // Without an error argument, which the client library would print to the console.
    response.destroy();
    throw error;
  }
}

/** A parsed JSON object of a response. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown, name: string): JsonObject {
  if (!isRecord(value)) throw new Error(`${name} is not an object`);
  return value;
}

export function arrayOf(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${name} is not an array`);
  return value;
}

export function countOf(value: unknown, name: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new Error(`${name} is not a count`);
  }
  return value;
}

/** Calls `read`, and converts its error about invalid JSON to StoreUnavailable. */
export function valid<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw newStoreUnavailable(STORE, error);
  }
}
