// Client of the search API of OpenSearch and Elasticsearch, with timeouts. Failures become StatusErrors.
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { parseBoundedJSON } from '../../../../apis/reading/bounded-json.ts';
import { boundedSignal } from '../../../concurrency/bounded-signal.ts';
import { TimeSlicer, type TimeSlices } from '../../../concurrency/time-slicer.ts';
import type { UpstreamResponse } from '../../../upstream/upstream-response.ts';
import type { Call } from '../../store/log-store.ts';
import { MAX_PAGE_BYTES, newPageTooLong, upTo } from '../../store/page-limit.ts';
import { newIndexAccessDenied, newStoreTimeout, newStoreUnavailable } from '../../store/store-errors.ts';
import { type CredentialOptions, type HttpRequest, StoreConnection } from '../store-connection.ts';
import { errorOf, isMissing, STORE } from './error-response.ts';
import { NO_INDICES, readSearchResponse, type SearchResponse } from './search-response.ts';

export interface SearchClientOptions extends CredentialOptions {
  /** URLs of the nodes, such as `https://host:9200`. */
  readonly urls: readonly string[];
  /** A monotonic clock in ms. */
  readonly now?: () => number;
  /** Time slicer for reading responses; default: a new one. */
  readonly slicer?: TimeSlicer;
}

/** A request whose body is JSON text. */
interface SearchRequest extends Omit<HttpRequest, 'headers'> {
  readonly query?: Readonly<Record<string, string>>;
}

export type SearchBody = Readonly<Record<string, unknown>>;

/** Indices that a search covers, with a known layout. */
interface SearchTarget {
  /** Part of a path. */
  readonly path: string;
  readonly shards: number;
  /** Unit of sort keys: nanoseconds, otherwise milliseconds. */
  readonly nanoseconds: boolean;
}

interface SearchOptions {
  /** JSON of `search_after`. */
  readonly after?: string | undefined;
  /** Searches with the same `preference` use the same copies of the shards; copies refresh at different times. */
  readonly preference?: string;
  /** Maximum cost of the JSON besides the hits; see parseBoundedJSON(). */
  readonly maxCost?: number;
}

/** Parameters that make a missing index no error, because it has no lines. */
export const LENIENT = { ignore_unavailable: 'true', allow_no_indices: 'true' } as const;

/**
 * Share of the remaining time that is the store's `timeout`, so that its partial result arrives before the deadline.
 */
const STORE_SHARE = 0.9;

/** Cost of a bucket with a sub-aggregation in the JSON of a response; see parseBoundedJSON(). */
export const BUCKET_COST = 100;

/** Added to the timeout of a request, because the store checks its own timeout with a delay. */
const GRACE_MS = 250;
/** Maximum size of an error response, which can list a reason for each of a thousand shards. */
const MAX_ERROR_BYTES = 4 << 20;

export class SearchClient {
  readonly #connection: StoreConnection;
  readonly #slicer: TimeSlicer;

  constructor({ urls, now, slicer = new TimeSlicer(), ...credentials }: SearchClientOptions) {
    this.#connection = new StoreConnection(STORE, urls, credentials, now ?? (() => performance.now()));
    this.#slicer = slicer;
  }

  close(): void {
    this.#connection.close();
  }

  /** Throws newIndexAccessDenied() if the number of shards has changed, because the layout can be outdated. */
  async search(
    { path, shards, nanoseconds }: SearchTarget,
    body: SearchBody,
    call: Call,
    options?: SearchOptions,
  ): Promise<SearchResponse> {
    const response = await this.searchPath(path, body, call, { nanoseconds, ...options });
    if (response.shards === shards) return response;
    throw newIndexAccessDenied(STORE, new Error('its indices changed during the query'));
  }

  /** Searches indices. `path`: names or patterns of indices. */
  async searchPath(
    path: string,
    body: SearchBody,
    call: Call,
    {
      after,
      preference,
      maxCost,
      nanoseconds = false,
    }: SearchOptions & {
      readonly nanoseconds?: boolean;
    } = {},
  ): Promise<SearchResponse> {
    const query = preference === undefined ? LENIENT : { ...LENIENT, preference };
    const request = {
      method: 'POST',
      path: `/${path}/_search`,
      query,
      body: bodyOf(body, call, after),
    } as const;
    const expected = { size: typeof body['size'] === 'number' ? body['size'] : 0, nanoseconds, maxCost };
    const response = await this.#send(request, call, (response, slices) =>
      readSearchResponse(upTo(MAX_PAGE_BYTES, response.stream(), newPageTooLong), expected, slices),
    );
    return response ?? NO_INDICES;
  }

  /** Sends a request and parses the response with `read`; undefined if an index does not exist. */
  request<T>(request: SearchRequest, call: Call, read: (json: unknown) => T): Promise<T | undefined> {
    return this.#send(request, call, async (response, slices) => {
      const bytes = await response.bytes({ maxBytes: MAX_PAGE_BYTES, tooLong: newPageTooLong });
      await slices.next();
      return read(parseBoundedJSON(bytes));
    });
  }

  /**
   * Returns the result of `read` for a successful response; undefined if an index does not exist. Throws the reason of an
   * aborted signal, StoreTimeout at the deadline, newPageTooLong() for a response over the limit, because its lines are too
   * long, StoreUnavailable for other errors of `read`, else errorOf().
   */
  async #send<T>(
    { query, path, ...rest }: SearchRequest,
    call: Call,
    read: (response: UpstreamResponse, slices: TimeSlices) => Promise<T>,
  ): Promise<T | undefined> {
    const slices = this.#slicer.of(call);
    await slices.next();
    using bounded = boundedSignal(call.signal, Math.max(1, Math.ceil(call.timeoutMs)) + GRACE_MS);
    const { signal } = bounded;
    const search = query === undefined ? '' : `?${String(new URLSearchParams(query))}`;
    const headers = rest.body === undefined ? {} : { 'content-type': 'application/json' };
    try {
      const response = await this.#connection.send({ ...rest, headers, path: `${path}${search}` }, signal);
      const status = response.statusCode;
      if (status >= 200 && status < 300) return await read(response, slices);
      const tooLong = () => new Error(`status ${status}, with a long body`);
      const error = await response.bytes({ maxBytes: MAX_ERROR_BYTES, tooLong });
      if (isMissing(status, error)) return undefined;
      throw errorOf(status, error);
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason;
      if (bounded.isLate) throw newStoreTimeout(STORE);
      throw error instanceof StatusError ? error : newStoreUnavailable(STORE, error);
    }
  }
}

function bodyOf(body: SearchBody, { timeoutMs }: Call, after: string | undefined): string {
  const json = JSON.stringify({ ...body, timeout: `${roundedTimeout(timeoutMs)}ms` });
  return after === undefined ? json : `${json.slice(0, -1)},"search_after":${after}}`;
}

/** Timeout in ms with three significant digits, because the store caches counts by the text of the request. */
function roundedTimeout(timeoutMs: number): number {
  const ms = Math.max(1, Math.floor(timeoutMs * STORE_SHARE));
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(ms)) - 2);
  return Math.floor(ms / unit) * unit;
}
