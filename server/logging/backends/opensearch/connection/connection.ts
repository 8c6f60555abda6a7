// The connection to OpenSearch or Elasticsearch: one request, one answer. Owns sockets, TLS, credentials, the end of a
// request at its deadline, and what failures mean; what is asked and read is the business of searches/ and fields/.
import type { IncomingMessage } from 'node:http';
import { Client, errors } from '@opensearch-project/opensearch';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { bodyPieces } from '../../../../cluster/connection/whole-body.ts';
import { boundedSignal } from '../../../../concurrency/bounded-signal.ts';
import type { Call } from '../../../log-store.ts';
import { MAX_PAGE_BYTES, newPageTooLong } from '../../../page-limit.ts';
import { newStoreTimeout, newStoreUnavailable } from '../../../store-errors.ts';
import { CredentialFiles, type CredentialOptions } from '../../credential-files.ts';
import { Silence } from '../../silence.ts';
import { isMissing, refusal } from './refusal.ts';
import { STORE } from './store-name.ts';

export interface ConnectionOptions extends CredentialOptions {
  /** Addresses of the nodes, `https://host:9200`. */
  readonly urls: readonly string[];
  /** A monotonic clock in ms. */
  readonly now?: () => number;
}

export interface StoreRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
  /** Whether it may be sent again when nobody answered; true unless told otherwise. */
  readonly repeatable?: boolean;
}

/** The pieces of an answer; their memory may be that of others too. */
export type Body = Buffer[];

/** The time that the store itself needs to notice that its time is over. */
const GRACE_MS = 250;
/** With a reason for each of a thousand shards. */
const MAX_REFUSAL_BYTES = 4 << 20;

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
   * The body of a good answer, in the pieces it came in; undefined for 404. Throws the caller's reason when it is
   * aborted, StoreTimeout behind the deadline, newPageTooLong() where the answer is, and else what refusal.ts makes of the answer.
   */
  async request(request: StoreRequest, call: Call): Promise<Body | undefined> {
    using bounded = boundedSignal(call.signal, Math.max(1, Math.ceil(call.timeoutMs)) + GRACE_MS);
    try {
      return await this.#attempts(request, bounded.signal);
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason;
      if (bounded.isLate) {
        this.#avoid(error);
        throw newStoreTimeout(STORE, { silentMs: this.#silence.ms });
      }
      if (error instanceof StatusError) throw error;
      throw newStoreUnavailable(STORE, error);
    }
  }

  /** Ends all sockets. */
  close(): void {
    if (this.#session) release(this.#session);
    this.#session = undefined;
  }

  async #attempts(request: StoreRequest, signal: AbortSignal): Promise<Body | undefined> {
    // The other side may have closed a kept socket, and a node may be gone while others are available.
    const attempts = Math.max(2, this.#urls.length);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(request, signal);
      } catch (error) {
        const isUnanswered = error instanceof Error && error.name === 'ConnectionError';
        const again = isUnanswered && (request.repeatable !== false || wasNeverSent(error));
        if (!again || attempt >= attempts) throw error;
      }
    }
  }

  /**
   * The node that did not answer in time, for a minute or longer, as long as there are others. The client by itself
   * avoids those alone that refuse connections.
   */
  #avoid(error: unknown): void {
    if (!(error instanceof errors.RequestAbortedError)) return;
    const silent = error.meta.meta.connection;
    if (silent) this.#session?.client.connectionPool.markDead(silent);
  }

  async #attempt(request: StoreRequest, signal: AbortSignal): Promise<Body | undefined> {
    const { authorization, ca } = await this.#credentials.read();
    signal.throwIfAborted();
    const session = this.#sessionFor(ca);
    session.requests++;
    try {
      this.#silence.asked();
      const { status, body, retryAfter } = await exchange(
        session.client,
        request,
        authorization,
        signal,
        () => this.#silence.broken(),
      );
      if (status >= 200 && status < 300) return body;
      const text = bodyText(body);
      if (isMissing(status, text)) return undefined;
      throw refusal(status, text, retryAfter);
    } finally {
      session.requests--;
      if (session !== this.#session && session.requests === 0) release(session);
    }
  }

  /** Another CA is another client: sockets that were trusted under the old one are not used again. */
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

/** There was no connection; the client keeps nothing of the error but its words. */
function wasNeverSent({ message }: Error): boolean {
  return /^connect E[A-Z]+ /.test(message);
}

/** A character may be cut where one piece ends. */
export function bodyText(body: Body): string {
  const [only = Buffer.alloc(0), ...others] = body;
  return (others.length === 0 ? only : Buffer.concat(body)).toString('utf8');
}

function release({ client }: Session): void {
  // It does not wait: nothing is under way, or everything has to end.
  client.close().catch(() => undefined);
}

async function exchange(
  client: Client,
  { method, path, query, body }: StoreRequest,
  authorization: string | undefined,
  signal: AbortSignal,
  begun: () => void,
): Promise<{ status: number; body: Body; retryAfter: string | undefined }> {
  const sent = client.transport.request(
    {
      method,
      path,
      ...(query === undefined ? {} : { querystring: { ...query } }),
      ...(body === undefined ? {} : { body }),
    },
    {
      asStream: true,
      // No timeout for silent sockets here: the signal ends a request in time.
      requestTimeout: 24 * 3_600_000,
      headers: authorization === undefined ? {} : { authorization },
    },
  );
  // The client knows no signals. What it returns here is a promise, which an event must not see: it would count as lost.
  const abort = (): void => {
    sent.abort();
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    const answer = await sent;
    begun();
    const response = answer.body as IncomingMessage;
    const status = answer.statusCode ?? 0;
    const body = await (status < 300 ? readBody(response) : readRefusal(response));
    // Node throws the rest of an answer away that is aborted, and lets it end as if it were whole.
    signal.throwIfAborted();
    return { status, body, retryAfter: response.headers['retry-after'] };
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Too many lines make an answer long, never a refusal: asking for fewer would not help. */
function readRefusal(response: IncomingMessage): Promise<Body> {
  return readBody(
    response,
    MAX_REFUSAL_BYTES,
    () => new Error(`status ${response.statusCode}, at great length`),
  );
}

async function readBody(
  response: IncomingMessage,
  limit = MAX_PAGE_BYTES,
  tooLong: () => Error = newPageTooLong,
): Promise<Body> {
  try {
    return await bodyPieces(response, limit, {
      tooLong,
      truncated: (cause = new Error('the answer was cut')) => cause,
    });
  } catch (error) {
    // Without the error, because the client would write it to the console.
    response.destroy();
    throw error;
  }
}
