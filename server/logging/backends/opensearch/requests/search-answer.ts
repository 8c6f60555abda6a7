// What a search answered, read narrowly: counts, records with their sort keys, and what the answer does not cover.
import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import { instantOf } from '../../../instant.ts';
import type { LogRecord, Total } from '../../../log-store.ts';
import { newStoreUnavailable } from '../../../store-errors.ts';
import type { FieldNames } from './field-map.ts';
import { toInstant } from './instant.ts';
import { arrayOf, countOf, isObject, type JsonObject, objectOf, textOf } from './json-reader.ts';
import { digestOf, type Position, timeOfKey } from './position.ts';
import { STORE } from './store-name.ts';

export interface Hit {
  readonly index: string;
  readonly id: string;
  readonly source: JsonObject;
  /** The sort key; the time has lost its last digits where it counts nanoseconds. */
  readonly time: number;
  readonly sequence: number;
}

export interface SearchAnswer {
  readonly total: Total;
  readonly hits: readonly Hit[];
  readonly shortfalls: readonly Shortfall[];
  /**
   * Whether it stopped at `terminate_after`. Where nobody asked for that it means nothing: OpenSearch 3 also says so
   * when it knows the rest without looking.
   */
  readonly endedEarly: boolean;
  readonly aggregations: JsonObject;
  readonly pointInTime: string | undefined;
  /** The JSON it was read from. */
  readonly text: string;
}

/** What is answered when there are no indices. */
export const NO_ANSWER: SearchAnswer = {
  total: { count: 0, relation: 'eq' },
  hits: [],
  shortfalls: [],
  endedEarly: false,
  aggregations: {},
  pointInTime: undefined,
  text: '',
};

/** Throws an Error for what is no answer of a search. */
export function readAnswer(text: string): SearchAnswer {
  const answer = objectOf(JSON.parse(text), 'the answer');
  const found = objectOf(answer['hits'], 'hits');
  const shortfalls = shortfallsOf(answer);
  return {
    total: totalOf(found['total'], shortfalls.length === 0),
    hits: arrayOf(found['hits'], 'hits').map(readHit),
    shortfalls,
    endedEarly: answer['terminated_early'] === true,
    aggregations: isObject(answer['aggregations']) ? answer['aggregations'] : {},
    pointInTime: textOf(answer['pit_id']),
    text,
  };
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
  const shards = objectOf(answer['_shards'], '_shards');
  const failed = countOf(shards['failed'], '_shards.failed');
  const shortfalls: Shortfall[] = [];
  if (answer['timed_out'] === true) {
    shortfalls.push({ reason: 'Timeout', message: 'the log store had not looked at everything in time' });
  }
  if (failed > 0) {
    const total = countOf(shards['total'], '_shards.total');
    shortfalls.push({
      reason: 'ShardFailed',
      message: `${failed} of ${total} shards of the log store failed`,
    });
  }
  return shortfalls;
}

function readHit(value: unknown): Hit {
  const { _index, _id, _source, sort } = objectOf(value, 'a hit');
  const [time, sequence] = Array.isArray(sort) ? sort : [];
  if (typeof _index !== 'string' || typeof _id !== 'string') throw new Error('a hit has no name');
  if (typeof time !== 'number' || typeof sequence !== 'number') throw new Error('a hit has no sort key');
  return { index: _index, id: _id, source: isObject(_source) ? _source : {}, time, sequence };
}

const KEY = '"sort":[';

/** The position right behind the hit; `count` hits up to it were given, and `before` at the position before. */
export function positionBehind(
  answer: SearchAnswer,
  at: number,
  nanoseconds: boolean,
  before: Position | undefined,
): Position {
  const last = answer.hits[at];
  if (!last) throw new Error('there is no such hit');
  const key = keysOf(answer, at + 1).at(-1) ?? '';
  const time = timeOfKey(key, nanoseconds);
  const given = answer.hits
    .slice(0, at + 1)
    .filter((hit) => hit.time === last.time && hit.sequence === last.sequence)
    .map((hit) => digestOf(hit.index, hit.id));
  const same = before?.time === time && before.sequence === last.sequence;
  // The answer begins with those that were given of this key before, as long as they are there.
  const all = new Set([...(same ? before.given : []), ...given]);
  return { time, sequence: last.sequence, given: [...all] };
}

/**
 * Milliseconds of each hit, rounded down. Never by way of `time`: nanoseconds lose their last digits there, and so a time
 * may become that of the millisecond before or behind.
 */
export function timesOf(answer: SearchAnswer, nanoseconds: boolean): number[] {
  return keysOf(answer, answer.hits.length).map((key) =>
    nanoseconds ? Number(BigInt(key) / 1_000_000n) : Number(key),
  );
}

/** The times of the first hits' sort keys, as they were written. */
function keysOf({ text, hits }: SearchAnswer, many: number): string[] {
  // No string of JSON can hold this text: quotes are escaped in there. So the nth one is that of the nth hit.
  let begin = -KEY.length;
  return hits.slice(0, many).map(({ time }) => {
    begin = text.indexOf(KEY, begin + KEY.length);
    const key = /^-?\d+/.exec(text.slice(begin + KEY.length, begin + KEY.length + 32))?.[0] ?? '';
    if (begin < 0 || Number(key) !== time) {
      throw newStoreUnavailable(STORE, new Error('a sort key can not be read'));
    }
    return key;
  });
}

/** The record of a hit. */
export function recordOf({ source, time }: Hit, names: FieldNames, nanoseconds: boolean): LogRecord {
  const written = toInstant(valueAt(source, names.time));
  return {
    time: written ?? instantOf(nanoseconds ? Math.floor(time / 1e6) : time),
    log: asText(valueAt(source, names.message)).replace(/\n$/, ''),
    namespace: asText(valueAt(source, names.namespace)),
    pod: asText(valueAt(source, names.pod)),
    container: asText(valueAt(source, names.container)),
  };
}

/** Collectors nest objects, or write the dots into the names. */
function valueAt(source: JsonObject, path: string): unknown {
  if (path in source) return source[path];
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const inner = source[path.slice(0, dot)];
    if (isObject(inner)) {
      const value = valueAt(inner, path.slice(dot + 1));
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return asText(value[0]);
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
