// The ways in which a store tells how many different values fields have.
import { countOf, type JsonObject, objectOf, valid } from '../connection/json-reader.ts';

export interface Way {
  readonly aggregations: (fields: readonly string[]) => JsonObject;
  /** What of the answer nobody reads. */
  readonly omitted?: string;
  /** Of all fields; undefined where that is not known. */
  readonly containers: (aggregations: JsonObject) => number | undefined;
}

/** The store counts exactly up to here, and estimates above it; it is the most that can be asked for. */
export const EXACT_CARDINALITY = 40_000;
/** Values that are few: nodes of a store send each other a list of them. */
export const MAX_FEW = 2_000;

/** A look at the value of each line. Each shard is given a quarter of a mebibyte for it, however few there are. */
export const COUNTED: Way = {
  aggregations: (fields) => cardinalities(fields, EXACT_CARDINALITY),
  containers: (aggregations) => sumOf(aggregations, 'containers', 'value'),
};

/** The same for a sixteenth of that, where they are few; it is exact up to a little more. */
export const COUNTED_FEW: Way = {
  aggregations: (fields) => cardinalities(fields, MAX_FEW * 1.5),
  containers: (aggregations) => {
    const count = sumOf(aggregations, 'containers', 'value');
    return count <= MAX_FEW ? count : undefined;
  },
};

/** The store lists the values, and counts what it listed; a list that is too short says how many lines it left out. */
export const LISTED: Way = {
  aggregations: (fields) =>
    all(fields, (field, at) => ({
      [`list${at}`]: { terms: { field, size: MAX_FEW } },
      [`containers${at}`]: { stats_bucket: { buckets_path: `list${at}>_count` } },
    })),
  omitted: '-aggregations.*.buckets',
  containers: (aggregations) =>
    sumOf(aggregations, 'list', 'sum_other_doc_count') === 0
      ? sumOf(aggregations, 'containers', 'count')
      : undefined,
};

function cardinalities(fields: readonly string[], threshold: number): JsonObject {
  return all(fields, (field, at) => ({
    [`containers${at}`]: { cardinality: { field, precision_threshold: threshold } },
  }));
}

function all(fields: readonly string[], asked: (field: string, at: number) => JsonObject): JsonObject {
  return Object.assign({}, ...fields.map(asked));
}

/** Of this member of the aggregations whose names begin like this; there are none where there is no index. */
function sumOf(aggregations: JsonObject, name: string, member: string): number {
  return valid(() =>
    Object.entries(aggregations)
      .filter(([key]) => key.startsWith(name))
      .reduce((sum, [, value]) => sum + countOf(objectOf(value, name)[member], `${name}.${member}`), 0),
  );
}
