// Which fields the records of indices have that do not map all of them. A field that is not mapped is not found, whatever is
// in the records: where no record has it nothing is missing, else its lines are. The records alone tell one from the other.
import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import { fewerWhenTooMuch } from '../../../fewer-lines.ts';
import type { Call } from '../../../log-store.ts';
import { arrayOf, type JsonObject, objectOf, valid } from '../connection/json-reader.ts';
import type { UnmappedFields } from '../fields/field-map.ts';
import type { RecordedFields } from '../fields/field-types.ts';
import { readerOf } from '../fields/record-reader.ts';
import type { SearchAnswer } from '../searches/search-answer.ts';
import type { SearchBody, Searches } from '../searches/searches.ts';

/** Records of each shard that are looked at, whichever: those of one index are much alike. */
const LOOKED_AT = 10;

export interface FoundFields {
  /** Whether no record was found at all. */
  readonly isEmpty: boolean;
  /** What was not looked at. */
  readonly shortfalls: readonly Shortfall[];
  readonly recorded: RecordedFields;
}

/** `unmapped`: without any, it is only looked whether there is a record. */
export async function recordedFields(
  searches: Searches,
  indices: string,
  unmapped: UnmappedFields | undefined,
  call: Call,
): Promise<FoundFields> {
  const { answer } = await fewerWhenTooMuch(
    LOOKED_AT,
    (size) => {
      const looked = unmapped && recordsOf(unmapped, size);
      const body = { size: 0, track_total_hits: 1, terminate_after: size, ...looked };
      return searches.searchIndices(indices, body, call);
    },
    call.signal,
  );
  const records = valid(() => recordsIn(answer));
  const having = (field: string): string[] => {
    const read = readerOf(field);
    return records
      .filter(([, sources]) => sources.some((source) => isThere(read(source))))
      .map(([name]) => name);
  };
  return {
    isEmpty: answer.total.count === 0,
    shortfalls: answer.shortfalls,
    recorded: new Map(unmapped?.fields.map((field) => [field, having(field)])),
  };
}

/** Only the fields that are in question: lines may be long. */
function recordsOf({ fields, indices }: UnmappedFields, size: number): SearchBody {
  const some = { top_hits: { size, _source: fields } };
  return {
    query: { terms: { _index: indices } },
    aggs: { indices: { terms: { field: '_index', size: indices.length }, aggs: { some } } },
  };
}

/** Some of each index, by its name. */
function recordsIn({ aggregations }: SearchAnswer): (readonly [string, readonly JsonObject[]])[] {
  // Left out where there is no shard.
  if (aggregations['indices'] === undefined) return [];
  const { buckets } = objectOf(aggregations['indices'], 'indices');
  return arrayOf(buckets, 'buckets').map((each) => {
    const { key, some } = objectOf(each, 'a bucket');
    const { hits } = objectOf(objectOf(some, 'some')['hits'], 'some.hits');
    const sources = arrayOf(hits, 'hits').map((hit) =>
      objectOf(objectOf(hit, 'a hit')['_source'] ?? {}, '_source'),
    );
    return [String(key), sources];
  });
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
