// Reads the answer of a search: counts, hits, and what the answer does not cover. What the keys of its hits tell:
// sort-keys.ts.
import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import { isRecord, optionalText } from '../../../../../apis/reading/unknown-value.ts';
import { forget } from '../../../../memory/forgotten.ts';
import type { Total } from '../../../log-store.ts';
import { newStoreUnavailable } from '../../../store-errors.ts';
import { arrayOf, countOf, type JsonObject, objectOf } from '../connection/json-reader.ts';
import { STORE } from '../connection/store-name.ts';

export interface Hit {
  readonly index: string;
  readonly id: string;
  readonly source: JsonObject;
  /** The sort key; the time has lost its last digits where it counts nanoseconds. */
  readonly time: number;
  readonly sequence: number;
}

export interface SearchAnswer {
  /** That were asked, of all indices. */
  readonly shards: number;
  readonly total: Total;
  readonly hits: Hit[];
  readonly shortfalls: readonly Shortfall[];
  /**
   * Whether it stopped at `terminate_after`. Where nobody asked for that it means nothing: OpenSearch 3 also says so
   * when it knows the rest without looking.
   */
  readonly endedEarly: boolean;
  readonly aggregations: JsonObject;
  readonly pointInTime: string | undefined;
  /** The JSON it was read from, for what is no number of JavaScript. */
  readonly json: { text: string };
}

/** What is answered when there are no indices. */
export const NO_ANSWER: SearchAnswer = {
  shards: 0,
  total: { count: 0, relation: 'eq' },
  hits: [],
  shortfalls: [],
  endedEarly: false,
  aggregations: {},
  pointInTime: undefined,
  json: { text: '' },
};

/** Throws an Error for what is no answer of a search. */
export function readAnswer(text: string): SearchAnswer {
  const answer = objectOf(JSON.parse(text), 'the answer');
  const found = objectOf(answer['hits'], 'hits');
  const shortfalls = shortfallsOf(answer);
  return {
    shards: shardsOf(answer).total,
    total: totalOf(found['total'], shortfalls.length === 0),
    hits: arrayOf(found['hits'], 'hits').map(readHit),
    shortfalls,
    endedEarly: answer['terminated_early'] === true,
    aggregations: isRecord(answer['aggregations']) ? answer['aggregations'] : {},
    pointInTime: optionalText(answer['pit_id']),
    json: { text },
  };
}

/** Throws where a part of the store did not answer, for who would take what is missing for what is not there. */
export function checkWhole({ shortfalls: [missing] }: Pick<SearchAnswer, 'shortfalls'>): void {
  if (missing) throw newStoreUnavailable(STORE, new Error(missing.message));
}

/** Its hits, of which nobody reads any more. */
export function forgetHits({ hits, json }: SearchAnswer): void {
  forget(hits);
  json.text = '';
}

function totalOf(total: unknown, complete: boolean): Total {
  // Not counted: not asked for.
  if (total === undefined) return { count: 0, relation: 'gte' };
  const { value, relation } = objectOf(total, 'hits.total');
  return {
    count: countOf(value, 'hits.total.value'),
    relation: complete && relation === 'eq' ? 'eq' : 'gte',
  };
}

function shortfallsOf(answer: JsonObject): Shortfall[] {
  const late: Shortfall = {
    reason: 'Timeout',
    message: 'the log store had not looked at everything in time',
  };
  return [
    ...(answer['timed_out'] === true ? [late] : []),
    ...skippedClusters(answer),
    ...missingShards(answer),
  ];
}

/** Of indices of other clusters: one that can be skipped (`skip_unavailable`) is, and all of its shards with it. */
function skippedClusters({ _clusters }: JsonObject): Shortfall[] {
  if (!isRecord(_clusters)) return [];
  const [total, skipped] = [
    countOf(_clusters['total'], '_clusters'),
    countOf(_clusters['skipped'], '_clusters'),
  ];
  // Nothing that could be asked is not the same as nothing that is there.
  if (skipped > 0 && skipped === total) throw new Error('the cluster is away that has the indices');
  return skipped === 0
    ? []
    : [{ reason: 'ShardFailed', message: `${skipped} of ${total} clusters of the log store are away` }];
}

/** Of the answer of a search, or of whoever else asks all shards. */
export function missingShards(answer: JsonObject): Shortfall[] {
  const { total, successful } = shardsOf(answer);
  // Shards that no node holds at the moment count neither as successful nor as failed.
  const missing = total - successful;
  if (missing <= 0) return [];
  return [
    { reason: 'ShardFailed', message: `${missing} of ${total} shards of the log store failed, or are away` },
  ];
}

function shardsOf(answer: JsonObject): { readonly total: number; readonly successful: number } {
  const shards = objectOf(answer['_shards'], '_shards');
  return {
    total: countOf(shards['total'], '_shards.total'),
    successful: countOf(shards['successful'], '_shards.successful'),
  };
}

function readHit(value: unknown): Hit {
  const { _index, _id, _source, sort } = objectOf(value, 'a hit');
  const [time, sequence] = Array.isArray(sort) ? sort : [];
  if (typeof _index !== 'string' || typeof _id !== 'string') throw new Error('a hit has no name');
  if (typeof time !== 'number' || typeof sequence !== 'number') throw new Error('a hit has no sort key');
  return { index: _index, id: _id, source: isRecord(_source) ? _source : {}, time, sequence };
}
