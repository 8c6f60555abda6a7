// What is asked for one page of records, in the order of time.
import type { Order } from '../../../log-store.ts';
import type { FieldMap } from '../fields/field-map.ts';
import type { FieldNames } from '../fields/field-names.ts';
import type { Clause } from '../searches/clause.ts';
import type { SearchBody } from '../searches/searches.ts';

/** Indices answer no more than this of one search, skipped records included, unless told otherwise. */
export const RESULT_WINDOW = 10_000;

export interface PageBody {
  readonly query: Clause;
  readonly order: Order;
  readonly size: number;
  readonly from?: number;
  readonly total: boolean;
}

export function pageBody({ query, order, size, from = 0, total }: PageBody, fields: FieldMap): SearchBody {
  const { names, nanoseconds } = fields;
  return {
    query,
    size,
    ...(from === 0 ? {} : { from }),
    track_total_hits: total,
    _source: sourceFields(names),
    sort: [
      {
        [names.time]: nanoseconds
          ? // Where records without a time stand does not matter, there are none. But only where they do not stand last,
            // OpenSearch leaves no shards out by comparing rounded times, which loses records of equal times.
            { order, numeric_type: 'date_nanos', unmapped_type: 'date_nanos', missing: '_first' }
          : { order, unmapped_type: 'date' },
      },
      // An index that has never had a record knows not even this.
      { _seq_no: { order, unmapped_type: 'long' } },
    ],
  };
}

function sourceFields({ time, message, namespace, pod, container }: FieldNames): string[] {
  return [...new Set([time, message, namespace, pod, container])];
}
