// Parser of search responses of OpenSearch and Elasticsearch. Missing shards make the result partial.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { parseBoundedJSON } from '../../../../apis/reading/bounded-json.ts';
import { ListSplitter } from '../../../../apis/reading/list-splitter.ts';
import { isRecord } from '../../../../apis/reading/unknown-value.ts';
import type { TimeSlices } from '../../../concurrency/time-slicer.ts';
import type { Total } from '../../store/log-store.ts';
import { MAX_PAGE_BYTES } from '../../store/page-limit.ts';
import { newStoreUnavailable } from '../../store/store-errors.ts';
import { reasonsOf, STORE } from './error-response.ts';
import { type Hit, hitOf, MAX_TEXT_BYTES, withShortTexts } from './search-hit.ts';

export interface SearchResponse {
  /** Number of shards of the searched indices. */
  readonly shards: number;
  /** At least 0 (`gte`) if the search did not count. */
  readonly total: Total;
  readonly hits: readonly Hit[];
  readonly shortfalls: readonly Shortfall[];
  /** Whether the search stopped at `terminate_after`. OpenSearch 3 sometimes sets it without that parameter. */
  readonly isTerminatedEarly: boolean;
  readonly aggregations: JsonObject;
}

/** The response for indices that do not exist. */
export const NO_INDICES: SearchResponse = {
  shards: 0,
  total: { count: 0, relation: 'eq' },
  hits: [],
  shortfalls: [],
  isTerminatedEarly: false,
  aggregations: {},
};

interface ExpectedResponse {
  /** Maximum number of hits. */
  readonly size: number;
  /** Unit of the sort keys, otherwise milliseconds. */
  readonly nanoseconds: boolean;
  /** Maximum cost of the JSON besides the hits. */
  readonly maxCost?: number | undefined;
}

/** Where a response has the hits. */
const HITS = ['hits', 'hits'];

/** Reads a search response while it arrives. Throws an Error for other JSON. */
export async function readSearchResponse(
  body: AsyncIterable<Buffer>,
  { size, nanoseconds, maxCost }: ExpectedResponse,
  slices: TimeSlices,
): Promise<SearchResponse> {
  const splitter = new ListSplitter(MAX_PAGE_BYTES, HITS);
  const hits: Hit[] = [];
  for await (const chunk of body) {
    await slices.next();
    for (const hit of splitter.push(chunk)) {
      if (hits.length === size) throw new Error('there are more hits than requested');
      const short = hit.length > MAX_TEXT_BYTES ? await withShortTexts(hit, slices) : hit;
      hits.push(hitOf(short, nanoseconds ? 1n : 1_000_000n, short !== hit));
      if (slices.spent) await slices.next();
    }
  }
  const response = objectOf(parseBoundedJSON(splitter.envelope(), { maxCost }), 'the response');
  const { hits: found, total } = objectOf(response['hits'], 'hits');
  arrayOf(found, 'hits');
  const shortfalls = shortfallsOf(response);
  return {
    shards: shardsOf(response).total,
    total: totalOf(total, shortfalls.length === 0),
    hits,
    shortfalls,
    isTerminatedEarly: response['terminated_early'] === true,
    aggregations: isRecord(response['aggregations']) ? response['aggregations'] : {},
  };
}

/** Throws StoreUnavailable for a partial response. For callers that cannot report a partial result. */
export function assertComplete({ shortfalls: [missing] }: Pick<SearchResponse, 'shortfalls'>): void {
  if (missing) throw newStoreUnavailable(STORE, new Error(missing.message));
}

function totalOf(total: unknown, isComplete: boolean): Total {
  if (total === undefined) return { count: 0, relation: 'gte' };
  const { value, relation } = objectOf(total, 'hits.total');
  return {
    count: countOf(value, 'hits.total.value'),
    relation: isComplete && relation === 'eq' ? 'eq' : 'gte',
  };
}

function shortfallsOf(response: JsonObject): Shortfall[] {
  const timeout: Shortfall = {
    reason: 'Timeout',
    message: 'the log store stopped at the deadline of the query',
  };
  return [
    ...(response['timed_out'] === true ? [timeout] : []),
    ...skippedClusters(response),
    ...failedShards(response),
  ];
}

/** Shortfalls for unreachable remote clusters with `skip_unavailable`. */
function skippedClusters({ _clusters }: JsonObject): Shortfall[] {
  if (!isRecord(_clusters)) return [];
  const [total, skipped] = [
    countOf(_clusters['total'], '_clusters'),
    countOf(_clusters['skipped'], '_clusters'),
  ];
  if (skipped > 0 && skipped === total) throw new Error('the remote cluster with the indices is unreachable');
  return skipped === 0
    ? []
    : [
        {
          reason: 'ShardFailed',
          message: `${skipped} of ${total} clusters of the log store are unreachable`,
        },
      ];
}

function failedShards(response: JsonObject): Shortfall[] {
  const { total, successful } = shardsOf(response);
  // Includes unassigned shards, which are neither in `successful` nor in `failed`.
  const missing = total - successful;
  if (missing <= 0) return [];
  const [reason = ''] = reasonsOf(response['_shards']);
  // For an unassigned shard, Elasticsearch reports a failure and OpenSearch does not.
  const isUnavailable = reason === '' || reason.startsWith('no_shard_available_action_exception');
  const type = isUnavailable ? 'unavailable' : (/^[a-z_]{1,60}(?=:)/.exec(reason)?.[0] ?? 'unknown');
  return [
    { reason: 'ShardFailed', message: `${missing} of ${total} shards of the log store failed (${type})` },
  ];
}

function shardsOf(response: JsonObject): { readonly total: number; readonly successful: number } {
  const shards = objectOf(response['_shards'], '_shards');
  return {
    total: countOf(shards['total'], '_shards.total'),
    successful: countOf(shards['successful'], '_shards.successful'),
  };
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
