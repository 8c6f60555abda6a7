// Client of the query endpoint of VictoriaLogs. Each query is a POST of a form, with a timeout and with the tenant in
// the headers.
import { Admission } from '../../../admission/admission.ts';
import type { Seats } from '../../../admission/seats.ts';
import { boundedSignal } from '../../../concurrency/bounded-signal.ts';
import { TimeSlicer } from '../../../concurrency/time-slicer.ts';
import type { UpstreamResponse } from '../../../upstream/upstream-response.ts';
import type { Deadline } from '../../store/log-store.ts';
import { MAX_PAGE_BYTES, newPageTooLong, upTo } from '../../store/page-limit.ts';
import { type CredentialOptions, StoreConnection } from '../store-connection.ts';
import { type Row, rowsOf } from './rows.ts';
import type { Query } from './selection-query.ts';
import { MalformedResponseError, rejectionOf, STORE, statusErrorOf } from './store-error.ts';

const QUERY_PATH = '/select/logsql/query';
/**
 * Concurrent requests. The store executes so many with two CPUs by default (`-search.maxConcurrentRequests`), each with all
 * CPUs; further requests wait there in the order of arrival, so the requests of one caller could delay all others.
 */
const REQUESTS = 4;
/** Time after the deadline, in ms, in which the store may still report a timeout. */
const GRACE_MS = 500;
/** Timeout of one request of an export, in ms. A store that needs longer is considered unavailable. */
export const REQUEST_MS = 60_000;
/** Maximum bytes of the lines with the same time. A collector with a precision of seconds writes many of them. */
export const MAX_INSTANT_BYTES = 4 * MAX_PAGE_BYTES;

interface ResponseLimit {
  readonly maxBytes: number;
  readonly tooLong: () => Error;
}

const tooLong = (): Error => new MalformedResponseError('it is too long');
const UNLIMITED: ResponseLimit = { maxBytes: Number.POSITIVE_INFINITY, tooLong };
const COUNTS: ResponseLimit = { maxBytes: 16 << 20, tooLong };

export interface ClientOptions extends CredentialOptions {
  /** `http://…` or `https://…`. The paths of the store are below the path of the URL. */
  readonly url: string;
  /** `accountID` and `projectID` identify the tenant. */
  readonly accountID?: number;
  readonly projectID?: number;
  /** Default: an Admission without metrics. */
  readonly admission?: Pick<Admission, 'pool'>;
  /** Time slicer that all readers of long responses share; default: a new one. */
  readonly slicer?: TimeSlicer;
  /** A monotonic clock in ms. */
  readonly now: () => number;
}

export class Client {
  readonly slicer: TimeSlicer;
  readonly #connection: StoreConnection;
  readonly #seats: Seats;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: ClientOptions) {
    const { url, accountID = 0, projectID = 0, slicer = new TimeSlicer(), now } = options;
    const { admission = new Admission() } = options;
    this.slicer = slicer;
    this.#seats = admission.pool('log-searches', { capacity: REQUESTS, sharing: 'reserve' });
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

  /**
   * Yields the rows as they arrive. Throws StatusErrors, and `tooLong` for a response of more than `maxBytes`. Ending
   * the iteration cancels the query in the store.
   */
  async *rows(
    query: Query,
    pipes: readonly string[],
    deadline: Deadline,
    { maxBytes, tooLong }: ResponseLimit = UNLIMITED,
  ): AsyncGenerator<readonly Row[], void, undefined> {
    const { signal, caller } = deadline;
    using bounded = boundedSignal(signal, deadline.leftMs + GRACE_MS);
    let response: UpstreamResponse | undefined;
    try {
      signal.throwIfAborted();
      // Without a caller, it is a health check, which must not wait for the requests of callers.
      using _seat = caller === undefined ? undefined : await this.#seats.take(caller, bounded);
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
      yield* rowsOf(upTo(maxBytes, response.stream(), tooLong), this.slicer.of(deadline));
    } catch (error) {
      const isOver = deadline.isOver || bounded.isLate;
      throw statusErrorOf(error, { signal, isOver });
    } finally {
      response?.destroy();
    }
  }

  /** Returns all rows. Throws newPageTooLong() for a response longer than `maxBytes`. */
  allRows(query: Query, pipes: readonly string[], deadline: Deadline, maxBytes: number): Promise<Row[]> {
    return collected(this.rows(query, pipes, deadline, { maxBytes, tooLong: newPageTooLong }));
  }

  /** Returns all rows of a query that only counts. */
  counts(query: Query, stats: string, deadline: Deadline): Promise<Row[]> {
    return collected(this.rows(query, [stats], deadline, COUNTS));
  }
}

async function collected(batches: AsyncIterable<readonly Row[]>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const rows of batches) for (const row of rows) all.push(row);
  return all;
}
