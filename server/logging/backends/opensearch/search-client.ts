// Client of the search API, for searches of indices or of a point in time. It parses responses in time slices, so that
// large responses do not block the event loop.
import type { TimeSlicer } from '../../../concurrency/time-slicer.ts';
import type { Call } from '../../log-store.ts';
import { newIndexAccessDenied } from '../../store-errors.ts';
import { type Connection, type StoreRequest, valid } from './connection.ts';
import { STORE } from './error-response.ts';
import { NO_INDICES, readSearchResponse, type SearchResponse } from './search-response.ts';

export type SearchBody = Readonly<Record<string, unknown>>;

/** Indices that a search covers, with a known layout. */
export interface SearchTarget {
  /** Part of a path. */
  readonly path: string;
  readonly shards: number;
  /** Unit of sort keys: nanoseconds, otherwise milliseconds. */
  readonly nanoseconds: boolean;
}

export interface SearchOptions {
  /** JSON of `search_after`. */
  readonly after?: string | undefined;
  /** Searches with the same `preference` use the same copies of the shards; copies refresh at different times. */
  readonly preference?: string;
}

/** Parameters that make a missing index no error, because it has no lines. */
export const LENIENT = { ignore_unavailable: 'true', allow_no_indices: 'true' } as const;

/**
 * Share of the remaining time that is the store's `timeout`, so that its partial result arrives before the deadline.
 */
const STORE_SHARE = 0.9;

export class SearchClient {
  readonly #connection: Connection;
  readonly #slicer: TimeSlicer;

  constructor(connection: Connection, slicer: TimeSlicer) {
    this.#connection = connection;
    this.#slicer = slicer;
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
    { after, preference, nanoseconds = false }: SearchOptions & { readonly nanoseconds?: boolean } = {},
  ): Promise<SearchResponse> {
    const query = preference === undefined ? LENIENT : { ...LENIENT, preference };
    const request = { path: `/${path}/_search`, query, body: bodyOf(body, call, after) };
    return (await this.#search(request, call, nanoseconds)) ?? NO_INDICES;
  }

  /** Searches the point in time of the body; undefined if it has expired. */
  searchPoint(
    body: SearchBody,
    call: Call,
    { after, nanoseconds }: { readonly after: string | undefined; readonly nanoseconds: boolean },
  ): Promise<SearchResponse | undefined> {
    return this.#search({ path: '/_search', body: bodyOf(body, call, after) }, call, nanoseconds);
  }

  /**
   * Sends a request and parses the response with `read`. Undefined if an index or a point in time does not exist.
   * Throws StoreUnavailable if `read` throws.
   */
  async request<T>(request: StoreRequest, call: Call, read: (text: string) => T): Promise<T | undefined> {
    await this.#slicer.next();
    const text = await this.#connection.request(request, call);
    if (text === undefined) return undefined;
    await this.#slicer.next();
    return valid(() => read(text));
  }

  #search(
    request: Omit<StoreRequest, 'method'>,
    call: Call,
    nanoseconds: boolean,
  ): Promise<SearchResponse | undefined> {
    return this.request({ method: 'POST', ...request }, call, (text) =>
      readSearchResponse(text, nanoseconds),
    );
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
