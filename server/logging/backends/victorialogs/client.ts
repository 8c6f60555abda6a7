// Client of the query endpoint of VictoriaLogs. Each query is a POST of a form, with a timeout and with the tenant in
// the headers.
import type { IncomingMessage } from 'node:http';
import { boundedSignal } from '../../../concurrency/bounded-signal.ts';
import { TimeSlicer } from '../../../concurrency/time-slicer.ts';
import type { Deadline } from '../../log-store.ts';
import { MAX_PAGE_BYTES, newPageTooLong } from '../../page-limit.ts';
import { type CredentialOptions, StoreConnection } from '../store-connection.ts';
import { type Row, rowsOf } from './rows.ts';
import type { Query } from './selection-query.ts';
import { MalformedResponseError, rejectionOf, STORE, statusErrorOf } from './store-error.ts';

const QUERY_PATH = '/select/logsql/query';
/** Time after the deadline, in ms, in which the store may still report a timeout. */
const GRACE_MS = 500;
/** Timeout of one request of an export, in ms. A store that needs longer is considered unavailable. */
export const REQUEST_MS = 60_000;
/** Maximum bytes of the lines with the same time. A collector with a precision of seconds writes many of them. */
export const MAX_INSTANT_BYTES = 4 * MAX_PAGE_BYTES;
/** Maximum bytes of a response with counts. */
const MAX_COUNT_BYTES = 16 << 20;

export interface ClientOptions extends CredentialOptions {
  /** `http://…` or `https://…`. The paths of the store are below the path of the URL. */
  readonly url: string;
  /** `accountID` and `projectID` identify the tenant. */
  readonly accountID?: number;
  readonly projectID?: number;
  /** Time slicer that all readers of long responses share; default: a new one. */
  readonly slicer?: TimeSlicer;
  /** A monotonic clock in ms. */
  readonly now: () => number;
}

export class Client {
  readonly slicer: TimeSlicer;
  readonly #connection: StoreConnection;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: ClientOptions) {
    const { url, accountID = 0, projectID = 0, slicer = new TimeSlicer(), now } = options;
    this.slicer = slicer;
    this.#connection = new StoreConnection(STORE, [url], options, now);
    this.#headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...(accountID === 0 && projectID === 0
        ? {}
        : { accountid: String(accountID), projectid: String(projectID) }),
    };
  }

  close(): void {
    this.#connection.close();
  }

  /** Yields the rows as they arrive. Throws StatusErrors. Ending the iteration cancels the query in the store. */
  rows(
    query: Query,
    pipes: readonly string[],
    deadline: Deadline,
  ): AsyncGenerator<readonly Row[], void, undefined> {
    return this.#rows(query, pipes, deadline, (response) => response);
  }

  /** Returns all rows. Throws newPageTooLong() for a response longer than `maxBytes`. */
  async allRows(
    query: Query,
    pipes: readonly string[],
    deadline: Deadline,
    maxBytes: number,
  ): Promise<Row[]> {
    return await this.#collected(query, pipes, deadline, maxBytes, newPageTooLong);
  }

  /** Returns all rows of a query that only counts. */
  async counts(query: Query, stats: string, deadline: Deadline): Promise<Row[]> {
    const tooLong = (): Error => new MalformedResponseError('it is too long');
    return await this.#collected(query, [stats], deadline, MAX_COUNT_BYTES, tooLong);
  }

  async #collected(
    query: Query,
    pipes: readonly string[],
    deadline: Deadline,
    maxBytes: number,
    tooLong: () => Error,
  ): Promise<Row[]> {
    const all: Row[] = [];
    const bounded = (response: IncomingMessage) => upTo(maxBytes, response, tooLong);
    for await (const rows of this.#rows(query, pipes, deadline, bounded))
      for (const row of rows) all.push(row);
    return all;
  }

  async *#rows(
    query: Query,
    pipes: readonly string[],
    deadline: Deadline,
    body: (response: IncomingMessage) => AsyncIterable<Buffer>,
  ): AsyncGenerator<readonly Row[], void, undefined> {
    const { signal } = deadline;
    using bounded = boundedSignal(signal, deadline.leftMs + GRACE_MS);
    let response: IncomingMessage | undefined;
    try {
      signal.throwIfAborted();
      const form = new URLSearchParams({
        query: [query.filter, ...pipes].join(' | '),
        timeout: `${deadline.leftMs}ms`,
      });
      for (const filter of query.extraFilters) form.append('extra_filters', filter);
      const request = {
        method: 'POST',
        path: QUERY_PATH,
        headers: this.#headers,
        body: form.toString(),
      } as const;
      response = await this.#connection.send(request, bounded.signal);
      if (response.statusCode !== 200) throw await rejectionOf(response);
      yield* rowsOf(body(response), this.slicer);
    } catch (error) {
      const isOver = deadline.isOver || bounded.isLate;
      throw statusErrorOf(error, { signal, isOver, silentMs: this.#connection.silentMs });
    } finally {
      response?.destroy();
    }
  }
}

async function* upTo(
  maxBytes: number,
  body: AsyncIterable<Buffer>,
  tooLong: () => Error,
): AsyncGenerator<Buffer, void, undefined> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLong();
    yield chunk;
  }
}
