// The two ways in which a store tells how many different values fields have.
import { newStoreUnavailable } from '../../../store-errors.ts';
import { countOf, type JsonObject, objectOf } from '../requests/json-reader.ts';
import { STORE } from '../requests/store-name.ts';

export interface Way {
  readonly aggregations: (fields: readonly string[]) => JsonObject;
  /** What of the answer nobody reads. */
  readonly omitted?: string;
  /** Of all fields; undefined where that is not known. */
  readonly containers: (aggregations: JsonObject) => number | undefined;
}

/** The store counts exactly up to here, and estimates above it; it is the most that can be asked for. */
export const EXACT_CARDINALITY = 40_000;
/** Values of a list: the nodes of a store send it to each other. */
export const MAX_LISTED = 2_000;

/** A look at the value of each line. */
export const COUNTED: Way = {
  aggregations: (fields) =>
    all(fields, (field, at) => ({
      [`containers${at}`]: { cardinality: { field, precision_threshold: EXACT_CARDINALITY } },
    })),
  containers: (aggregations) => sumOf(aggregations, 'containers', 'value'),
};

/** The store lists the values, and counts what it listed; a list that is too short says how many lines it left out. */
export const LISTED: Way = {
  aggregations: (fields) =>
    all(fields, (field, at) => ({
      [`list${at}`]: { terms: { field, size: MAX_LISTED } },
      [`containers${at}`]: { stats_bucket: { buckets_path: `list${at}>_count` } },
    })),
  omitted: '-aggregations.*.buckets',
  containers: (aggregations) =>
    sumOf(aggregations, 'list', 'sum_other_doc_count') === 0
      ? sumOf(aggregations, 'containers', 'count')
      : undefined,
};

function all(fields: readonly string[], asked: (field: string, at: number) => JsonObject): JsonObject {
  return Object.assign({}, ...fields.map(asked));
}

/** Of this member of the aggregations whose names begin like this; there are none where there is no index. */
function sumOf(aggregations: JsonObject, name: string, member: string): number {
  try {
    return Object.entries(aggregations)
      .filter(([key]) => key.startsWith(name))
      .reduce((sum, [, value]) => sum + countOf(objectOf(value, name)[member], `${name}.${member}`), 0);
  } catch (error) {
    throw newStoreUnavailable(STORE, error);
  }
}
