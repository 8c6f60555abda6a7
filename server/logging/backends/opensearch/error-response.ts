// Converts OpenSearch and Elasticsearch errors to StatusErrors. Clients never receive the store's message, which can
// contain names of indices and hosts.
import type { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { parseBoundedJSON } from '../../../../apis/reading/bounded-json.ts';
import { isRecord, optionalText } from '../../../../apis/reading/unknown-value.ts';
import { UnfitOptionError } from '../../store/configuration-errors.ts';
import {
  newCredentialsRejected,
  newIndexAccessDenied,
  newNotSupported,
  newStoreBusy,
  newStoreExhausted,
  newStoreTimeout,
  newStoreUnavailable,
} from '../../store/store-errors.ts';

/** Value of `logging.store`, also used in errors. */
export const STORE = 'opensearch';

/** An index that exists but cannot be searched: closed, otherwise blocked. */
interface UnsearchableIndex {
  readonly name: string;
  readonly isClosed: boolean;
}

/** An error response, without a stack trace. */
class ResponseError extends Error {
  readonly status: number;
  readonly index: UnsearchableIndex | undefined;

  constructor(status: number, message: string, index?: UnsearchableIndex) {
    super(`status ${status}: ${message}`);
    this.status = status;
    this.index = index;
  }
}

/** Returns the index that caused the rejection of a search, if the response names it. */
export function unsearchableIndexIn(error: unknown): UnsearchableIndex | undefined {
  return responseErrorIn(error)?.index;
}

/** Whether a retry can succeed: 429, or all shards failed. */
export function isTransient(error: unknown): boolean {
  const cause = responseErrorIn(error);
  if (!cause) return false;
  return (
    cause.status === 429 ||
    (cause.status >= 500 && cause.message.includes('search_phase_execution_exception'))
  );
}

function responseErrorIn(error: unknown): ResponseError | undefined {
  if (error instanceof ResponseError) return error;
  return error instanceof Error ? responseErrorIn(error.cause) : undefined;
}

/** Whether a 404 means that an index does not exist. Any other 404 is not from OpenSearch. */
export function isMissing(status: number, body: Buffer): boolean {
  return status === 404 && reasonsIn(body).some((reason) => reason.startsWith('index_not_found_exception'));
}

/** Maps an error response to a StatusError. */
export function errorOf(status: number, body: Buffer): StatusError {
  if (status === 401) return newCredentialsRejected(STORE);
  const reasons = reasonsIn(body);
  const text = body.toString('utf8', 0, MAX_SEARCHED);
  const matches = (pattern: RegExp) => reasons.some((reason) => pattern.test(reason));
  const message = reasons.slice(0, 3).join('; ') || text.slice(0, 200);
  const index = unsearchableIndexOf(reasons, text);
  const cause = new ResponseError(status, message, index);
  const [, settingError] = SETTINGS.find(([pattern]) => matches(pattern)) ?? [];
  if (settingError) return settingError(cause);
  if (index) return newIndexAccessDenied(STORE, cause);
  if (status === 504 || matches(/^(timeout|receive_timeout_transport|task_cancelled)_exception/)) {
    return newStoreTimeout(STORE, cause);
  }
  if (matches(/^circuit_breaking_exception/)) return newStoreExhausted(STORE, cause);
  if (status === 429) return newStoreBusy(STORE, cause);
  return status === 403 ? newIndexAccessDenied(STORE, cause) : newStoreUnavailable(STORE, cause);
}

function unsearchableIndexOf([first = '']: readonly string[], text: string): UnsearchableIndex | undefined {
  const blocked = /^cluster_block_exception: index \[([^\]]+)\] blocked by/.exec(first)?.[1];
  if (blocked !== undefined) return { name: blocked, isClosed: false };
  const isClosed = first.startsWith('index_closed_exception');
  const name = isClosed ? /"index"\s*:\s*"([^"]+)"/.exec(text)?.[1] : undefined;
  return name === undefined ? undefined : { name, isClosed };
}

/** Maximum length of a text that is searched for patterns, because the time of a search can grow with its square. */
const MAX_SEARCHED = 2_000;

function reasonsIn(body: Buffer): string[] {
  try {
    return reasonsOf(parseBoundedJSON(body));
  } catch {
    return [];
  }
}

/** Members of an error response that contain errors. */
const NESTED = ['error', '_shards', 'root_cause', 'caused_by', 'failed_shards', 'failures', 'reason'];

/** Returns `type: reason` of up to 20 errors in any JSON value: the error, its root causes and the failed shards. */
export function reasonsOf(body: unknown): string[] {
  const found: string[] = [];
  const collect = (value: unknown, depth: number): void => {
    if (depth > 8 || found.length >= 20) return;
    if (Array.isArray(value)) for (const item of value) collect(item, depth + 1);
    if (!isRecord(value)) return;
    const [type, reason] = [optionalText(value['type']), optionalText(value['reason'])];
    if (type !== undefined) found.push(`${type}: ${reason ?? ''}`.slice(0, MAX_SEARCHED));
    for (const key of NESTED) collect(value[key], depth + 1);
  };
  collect(body, 0);
  return found;
}

type ErrorFactory = (cause: Error) => StatusError;

/** A query that the store does not support. `unfit`: the setting to change and the effect, for the health check. */
function unsupported(
  parameter: string,
  problem: string,
  unfit?: readonly [reason: string, effect: string],
): ErrorFactory {
  const cause = unfit && new UnfitOptionError('logging.opensearch', ...unfit);
  return () => newNotSupported(STORE, parameter, problem, cause);
}

function unfitStore(cause: UnfitOptionError): ErrorFactory {
  return () => newStoreUnavailable(STORE, cause);
}

/**
 * Rejections due to a setting of the store or of an index. The errors say what to change. The pattern is compared with
 * each `type: reason`; the first match is used.
 */
const SETTINGS: readonly (readonly [pattern: RegExp, error: ErrorFactory])[] = [
  [
    /too_complex_to_determinize|determinizing|max_regex_length|regex.*length/i,
    unsupported('log_query', 'the pattern is too complex; use a shorter one'),
  ],
  [
    /failed to create query: .*(at position \d+|end-of-string|illegal repetition|invalid repetition|invalid range|character class)/i,
    unsupported(
      'log_query',
      'the regular expression is invalid; its syntax is that of Lucene, see docs/log-queries.md',
    ),
  ],
  [
    /too_many_(nested_)?clauses|maxClauseCount|max_clause_count|\[index\.max_terms_count\]/i,
    unsupported(
      'namespaces',
      'too many names or texts for its `indices.query.bool.max_clause_count` or `index.max_terms_count`; use fewer',
    ),
  ],
  [
    /result window is too large/i,
    unsupported('size', 'the page is beyond its `index.max_result_window`; use a cursor, or a smaller size'),
  ],
  [
    /search\.allow_expensive_queries/,
    unsupported(
      'log_query',
      'its `search.allow_expensive_queries` allows whole words and whole names only; use `match=phrase`, without levels and workloads',
      [
        'its `search.allow_expensive_queries` has to be true for parts of words, levels and workloads',
        'log queries with these return 400',
      ],
    ),
  ],
  [
    /^too_many_buckets_exception/,
    unsupported(
      'interval',
      'its `search.max_buckets` allows fewer buckets; use a longer interval or a shorter range',
    ),
  ],
  [
    /\[action\.search\.shard_count\.limit\]/,
    unsupported(
      'start_time',
      'its `action.search.shard_count.limit` allows fewer shards; use a shorter range',
      [
        'its `action.search.shard_count.limit` is lower than the number of shards of these indices',
        'log queries of a long range return 400',
      ],
    ),
  ],
  [
    /_source is disabled/,
    unfitStore(
      new UnfitOptionError('logging.opensearch', 'the indices have no _source, which records are read from'),
    ),
  ],
];
