// Opens and closes points in time (PIT) of OpenSearch and Elasticsearch: consistent views of the indices, for
// exports.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { isTimeout } from '../../../../apis/meta/v1/errors.ts';
import { isRecord, optionalText } from '../../../../apis/reading/unknown-value.ts';
import type { Call } from '../../log-store.ts';
import { newIndexAccessDenied, newStoreUnavailable } from '../../store-errors.ts';
import { errorOf, isTransient, isUnknownApi, lacksPoints, STORE } from './error-response.ts';
import { LENIENT, type SearchBody, type SearchClient, type SearchTarget } from './search-client.ts';
import { failedShards, objectOf, type SearchResponse, shardsOf } from './search-response.ts';

/** `keep_alive` that each page renews. If the client needs longer for a page, the point in time expires. */
const KEEP_ALIVE = '5m';
/** `keep_alive` until the first page. Short, because a crash or a disconnect before it leaves the point in time open. */
const FIRST_KEEP_ALIVE = '30s';
const CLOSE_MS = 5_000;

interface Api {
  /** Path behind the indices, to open a point in time. */
  readonly open: string;
  readonly query: Readonly<Record<string, string>>;
  /** Name of the id in the response. */
  readonly id: string;
  readonly close: string;
  readonly closeBody: (id: string) => unknown;
}

const ELASTICSEARCH: Api = {
  open: '_pit',
  query: { ignore_unavailable: 'true' },
  id: 'id',
  close: '/_pit',
  closeBody: (id) => ({ id }),
};

/** OpenSearch and Elasticsearch have different APIs, so PointsInTime tries each, and then uses the API that works. */
const APIS: readonly Api[] = [
  {
    open: '_search/point_in_time',
    query: LENIENT,
    id: 'pit_id',
    close: '/_search/point_in_time',
    closeBody: (id) => ({ pit_id: [id] }),
  },
  // Elasticsearch 8.16 or later. Earlier versions open no point in time if a shard is unavailable.
  { ...ELASTICSEARCH, query: { ...ELASTICSEARCH.query, allow_partial_search_results: 'true' } },
  ELASTICSEARCH,
];

export interface PointInTime {
  /** Shards and clusters that are missing from the point in time. */
  readonly shortfalls: readonly Shortfall[];
  /** Throws an error for which isLostPoint() is true if the point in time has expired. */
  search(body: SearchBody, call: Call, after: string | undefined): Promise<SearchResponse>;
  /** Never throws: a point in time that cannot be closed expires. */
  close(): Promise<void>;
}

export class PointsInTime {
  readonly #client: SearchClient;
  #api: Api | undefined;

  constructor(client: SearchClient) {
    this.#client = client;
  }

  /** Opens a point in time; undefined if no index exists. */
  async open(target: SearchTarget, call: Call): Promise<PointInTime | undefined> {
    const errors: unknown[] = [];
    for (const api of this.#api ? [this.#api] : APIS) {
      try {
        const point = await this.#open(api, target, call);
        if (point === undefined) continue;
        this.#api = api;
        return point;
      } catch (error) {
        if (call.signal.aborted || isTimeout(error) || isTransient(error)) throw error;
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors.find((each) => !isUnknownApi(each)) ?? errors[0];
    return undefined;
  }

  /** If the caller disconnects during the request, the point in time stays open until FIRST_KEEP_ALIVE. */
  async #open(api: Api, target: SearchTarget, call: Call): Promise<PointInTime | undefined> {
    const opened = await this.#client.request(
      {
        method: 'POST',
        path: `/${target.path}/${api.open}`,
        query: { ...api.query, keep_alive: FIRST_KEEP_ALIVE },
        idempotent: false,
      },
      call,
      (text) => readOpened(text, api, target),
    );
    if (!opened) return undefined;
    const point = this.#point(api, target, opened);
    if (!opened.error) return point;
    await point.close();
    throw opened.error;
  }

  #point(api: Api, { nanoseconds }: SearchTarget, { id: first, shortfalls }: Opened): PointInTime {
    let id = first;
    return {
      shortfalls,
      search: async (body, call, after) => {
        const pit = { id, keep_alive: KEEP_ALIVE };
        const response = await this.#client.searchPoint({ ...body, pit }, call, { after, nanoseconds });
        if (!response) throw newStoreUnavailable(STORE, new LostPointError('the point in time expired'));
        id = response.pointInTime || id;
        return response;
      },
      close: async () => {
        // Without the caller's signal, which can be aborted already.
        const call: Call = { signal: new AbortController().signal, timeoutMs: CLOSE_MS };
        const body = JSON.stringify(api.closeBody(id));
        const request = { method: 'DELETE', path: api.close, body } as const;
        await this.#client.request(request, call, () => undefined).catch(() => undefined);
      },
    };
  }
}

interface Opened extends Pick<PointInTime, 'shortfalls'> {
  readonly id: string;
  /** The reason why the point in time cannot be used. */
  readonly error: Error | undefined;
}

function readOpened(text: string, { id: member }: Api, { shards }: SearchTarget): Opened {
  const response = objectOf(JSON.parse(text), 'the response');
  const id = optionalText(response[member]);
  if (id === undefined) throw new Error('a point in time has no id');
  // Before 8.16, Elasticsearch does not report shards.
  if (!isRecord(response['_shards'])) return { id, shortfalls: [], error: undefined };
  // Fails instead of exporting a part of the shards.
  if (lacksPoints(text)) return { id, shortfalls: [], error: errorOf(503, text) };
  const isChanged = shardsOf(response).total !== shards;
  const error = isChanged
    ? newIndexAccessDenied(STORE, new Error('its indices changed before the export'))
    : undefined;
  return { id, shortfalls: failedShards(response), error };
}

class LostPointError extends Error {}

/** Whether a point in time has expired, or was lost with an index or a node. */
export function isLostPoint(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof LostPointError;
}
