// What OpenSearch refuses because of settings of its own, or of its indices: the words that tell it, and the cure.
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { UnfitOptionError } from '../../../configuration-errors.ts';
import { newNotSupported, newStoreUnavailable } from '../../../store-errors.ts';
import { STORE } from './store-name.ts';

export interface KnownRefusal {
  /** Of a `type: reason` in the answer. */
  readonly words: RegExp;
  /** `cause`: the refusal itself, for the log. */
  readonly error: (cause: Error) => StatusError;
}

/** Each export holds one for each of its shards. */
export const NO_POINTS_LEFT = /\[search\.max_open_pit_context\]/;

/** As exports alone find out. */
export class UnfitForPointsError extends UnfitOptionError {}

class NoPointsLeftError extends StatusError {}

export function newNoPointsLeft(cause: Error): StatusError {
  const message = `the log store ${STORE} has no room for this export beside others, or for one of so long a time: its \`search.max_open_pit_context\` allows no more; try again later, or ask for a shorter time`;
  return new NoPointsLeftError(503, 'ServiceUnavailable', message, { retryAfterSeconds: 30 }, { cause });
}

export function areNoPointsLeft(error: unknown): boolean {
  return error instanceof NoPointsLeftError;
}

/** Of them the first whose words are said. */
export const KNOWN_REFUSALS: readonly KnownRefusal[] = [
  {
    words: /too_complex_to_determinize|determinizing|max_regex_length|regex.*length/i,
    error: () => newNotSupported(STORE, 'log_query', 'the pattern is too complex; ask for a shorter one'),
  },
  {
    words: /too_many_(nested_)?clauses|maxClauseCount|max_clause_count/i,
    error: () =>
      newNotSupported(
        STORE,
        'namespaces',
        'too many names, or texts, for its `indices.query.bool.max_clause_count`; ask for fewer',
      ),
  },
  {
    words: /\[index\.max_terms_count\]/,
    error: () =>
      newNotSupported(STORE, 'namespaces', 'too many names for its `index.max_terms_count`; ask for fewer'),
  },
  {
    words: /result window is too large/i,
    error: () =>
      newNotSupported(
        STORE,
        'size',
        'the page lies deeper, or is larger, than its `index.max_result_window` allows; go on by cursor, or ask for fewer lines',
      ),
  },
  {
    words: /search\.allow_expensive_queries/,
    error: () =>
      newNotSupported(
        STORE,
        'log_query',
        'its `search.allow_expensive_queries` allows whole words and whole names only; ask with `match=phrase`, without levels and workloads, or tell who runs the store',
        new UnfitOptionError(
          'logging.opensearch',
          'its `search.allow_expensive_queries` has to be true to find parts of words, levels and workloads',
          'log queries for these get 400',
        ),
      ),
  },
  {
    words: /^too_many_buckets_exception/,
    error: () =>
      newNotSupported(STORE, 'interval', 'its `search.max_buckets` allows fewer; ask for a longer one'),
  },
  {
    words: /\[action\.search\.shard_count\.limit\]/,
    error: () =>
      newNotSupported(
        STORE,
        'start_time',
        'its `action.search.shard_count.limit` allows fewer shards than there are; ask for a shorter time, or tell who runs the store',
        new UnfitOptionError(
          'logging.opensearch',
          'its `action.search.shard_count.limit` has to be raised to search all shards of these indices',
          'log queries of a long time get 400',
        ),
      ),
  },
  {
    words: /_source is disabled/,
    error: () =>
      newStoreUnavailable(
        STORE,
        new UnfitOptionError('logging.opensearch', 'the indices keep no _source, which holds what is shown'),
      ),
  },
  {
    words: /\[(?:point_in_time|search)\.max_keep_alive\]/,
    error: () =>
      newStoreUnavailable(
        STORE,
        new UnfitForPointsError(
          'logging.opensearch',
          'its `point_in_time.max_keep_alive`, of Elasticsearch `search.max_keep_alive`, has to be 5m or more',
          'exports get 503',
        ),
      ),
  },
  { words: NO_POINTS_LEFT, error: newNoPointsLeft },
];
