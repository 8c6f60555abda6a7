// Pages of records in the order of time, each going on exactly where the one before ended.
import type { Order } from '../../../log-store.ts';
import type { FieldMap } from '../fields/field-map.ts';
import type { FieldNames } from '../fields/field-names.ts';
import type { Clause } from '../searches/clause.ts';
import { digestOf, keyOfTime, type Position, withMoved } from '../searches/position.ts';
import type { Hit, SearchAnswer } from '../searches/search-answer.ts';
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
      { _seq_no: { order } },
    ],
  };
}

function sourceFields({ time, message, namespace, pod, container }: FieldNames): string[] {
  return [...new Set([time, message, namespace, pod, container])];
}

/** How many more records to ask for, so that those that were given of the position's key can be left out. */
export function repeated(position: Position | undefined): number {
  return position?.given.length ?? 0;
}

/** The hits that were not given yet, and how many of the answer's first were. */
export function unseen(answer: SearchAnswer, position: Position | undefined): { hit: Hit; at: number }[] {
  const all = answer.hits.map((hit, at) => ({ hit, at }));
  if (!position) return all;
  const { sequence } = position;
  const given = new Set(position.given);
  return all.filter(({ hit }) => hit.sequence !== sequence || !given.has(digestOf(hit.index, hit.id)));
}

/** The same, where all hits of the position's key are in the answer: an index may have got another name meanwhile. */
export function unseenOrMoved(answer: SearchAnswer, position: Position | undefined, nanoseconds: boolean) {
  if (!position) return unseen(answer, position);
  const time = Number(keyOfTime(position.time, nanoseconds));
  const ofKey = answer.hits
    .filter((hit) => hit.time === time && hit.sequence === position.sequence)
    .map(({ index, id }) => digestOf(index, id));
  return unseen(answer, withMoved(position, ofKey));
}
