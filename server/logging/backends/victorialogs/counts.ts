// Exact counts of a selection: in all with the span of time, by bucket, and by container. One query each.

import type { Deadline } from '../../deadline.ts';
import type { Buckets } from '../../log-store.ts';
import { BucketCounts, commonWidth } from '../bucket-counts.ts';
import type { Client } from './client.ts';
import { type FieldNames, quoted, type Range, TIME } from './logsql.ts';
import { nextInstant } from './nanoseconds.ts';
import { instantIn, numberIn } from './rows.ts';
import type { Query } from './selection-query.ts';
import { newMalformedResponse } from './store-error.ts';

export interface Overview {
  readonly count: number;
  /** From the first record to behind the last one; undefined when there are none. */
  readonly span: Range | undefined;
}

/** The store needs no more time for the span than for the count. */
export async function countRecords(client: Client, query: Query, deadline: Deadline): Promise<Overview> {
  const stats = `stats count() as n, min(${TIME}) as first, max(${TIME}) as last`;
  const [row = {}] = await client.counts(query, stats, deadline);
  const count = numberIn(row, 'n');
  if (count === 0) return { count, span: undefined };
  return { count, span: { start: instantIn(row, 'first'), end: nextInstant(instantIn(row, 'last')) } };
}

/** The store counts in cells of the width that all buckets have in common; it returns the cells with records. */
export async function countByBucket(
  client: Client,
  query: Query,
  buckets: Buckets,
  deadline: Deadline,
): Promise<BucketCounts> {
  const width = commonWidth(buckets);
  const [first = 0] = buckets.edges;
  const offset = ((first % width) + width) % width;
  const stats = `stats by (${TIME}:${width}ms offset ${offset}ms) count() as n`;
  const counts = BucketCounts.of(buckets);
  for await (const rows of client.rows(query, [stats], deadline)) {
    for (const row of rows) {
      if (!counts.add(instantIn(row, TIME), numberIn(row, 'n'))) {
        throw newMalformedResponse('a time is outside the range');
      }
    }
  }
  return counts;
}

export interface ContainerCounts {
  readonly logs: number;
  readonly containers: number;
}

/** Counts containers by their id; for records without one, by namespace, pod and name. */
export async function countContainers(
  client: Client,
  query: Query,
  { namespace, pod, container, containerID }: FieldNames,
  deadline: Deadline,
): Promise<ContainerCounts> {
  const id = quoted(containerID);
  const names = [namespace, pod, container].map(quoted).join(', ');
  const stats = `stats count() as n, count_uniq(${id}) as ids, count_uniq(${names}) if (${id}:="") as named`;
  const [row = {}] = await client.counts(query, stats, deadline);
  return { logs: numberIn(row, 'n'), containers: numberIn(row, 'ids') + numberIn(row, 'named') };
}
