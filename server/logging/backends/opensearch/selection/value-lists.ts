import { optionalText } from '../../../../../apis/reading/unknown-value.ts';
import type { Call } from '../../../log-store.ts';
import { arrayOf, countOf, type JsonObject, objectOf, valid } from '../connection/json-reader.ts';
import { aggregatedFields } from '../fields/aggregated-fields.ts';
import type { FieldCoverage } from '../fields/field-map.ts';
import type { Clause } from '../searches/clause.ts';
import { endingTogether } from '../searches/ending-together.ts';
import { checkWhole } from '../searches/search-answer.ts';
import type { Searches } from '../searches/searches.ts';

export interface ValueListsAsked {
  readonly indices: string;
  readonly query: Clause;
  readonly coverage: FieldCoverage;
  /** `terms` of one field. */
  readonly aggregation: (field: string) => JsonObject;
}

export interface ListedValue {
  readonly name: string;
  readonly bucket: JsonObject;
}

export interface ValueList {
  readonly values: readonly ListedValue[];
  /** Whether there are more. */
  readonly isCut: boolean;
}

/**
 * The values that the lines have which are found, a list for each field and where it is one. Throws where a part of the
 * store did not answer: what is missing would count as what is not there.
 */
export async function valueLists(
  searches: Searches,
  { indices, query, coverage, aggregation }: ValueListsAsked,
  call: Call,
): Promise<ValueList[]> {
  const places = aggregatedFields(indices, coverage).filter(({ fields }) => fields.length > 0);
  const answers = await endingTogether(call, (together) =>
    Promise.all(
      places.map(({ indices, fields }) => {
        const aggs = Object.fromEntries(fields.map((field, n) => [`values${n}`, aggregation(field)]));
        const body = { size: 0, track_total_hits: false, query, aggs };
        return searches.searchUnchanged(indices, body, together);
      }),
    ),
  );
  answers.forEach(checkWhole);
  return valid(() => answers.flatMap(({ aggregations }) => Object.values(aggregations).map(listIn)));
}

function listIn(aggregation: unknown): ValueList {
  const { buckets, sum_other_doc_count: others } = objectOf(aggregation, 'an aggregation');
  const values = arrayOf(buckets, 'buckets').map((each) => {
    const bucket = objectOf(each, 'a bucket');
    const name = optionalText(bucket['key']);
    if (name === undefined) throw new Error('a bucket has no name');
    return { name, bucket };
  });
  return { values, isCut: countOf(others, 'sum_other_doc_count') > 0 };
}
