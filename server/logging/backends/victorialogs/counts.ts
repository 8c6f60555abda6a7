// Counts VictoriaLogs records in total, by histogram bucket and by container. The counts are exact.
import { SEVERITY_LEVELS } from '../../matching/levels.ts';
import { nextInstant } from '../../store/instant.ts';
import type { Buckets, Deadline, LogHistogram, LogStatistics } from '../../store/log-store.ts';
import { BucketCounts, CountsBySeverity, cellsOf } from '../bucket-counts.ts';
import { levelFilter } from './line-filters.ts';
import { type FieldNames, MESSAGE, quoted, type Range, TIME } from './logsql.ts';
import type { Client } from './query-client.ts';
import { instantIn, numberIn } from './rows.ts';
import type { Query } from './selection-query.ts';
import { newMalformedResponse } from './store-error.ts';

export interface Overview {
  readonly count: number;
  /** From the time of the first record to 1 ns after the last one; undefined when there are no records. */
  readonly span: Range | undefined;
}

/** Returns the number of records and their span. The store finds the span while it counts, at no extra cost. */
export async function countRecords(client: Client, query: Query, deadline: Deadline): Promise<Overview> {
  const stats = `stats count() as n, min(${TIME}) as first, max(${TIME}) as last`;
  const [row = {}] = await client.counts(query, stats, deadline);
  const count = numberIn(row, 'n');
  if (count === 0) return { count, span: undefined };
  const span = { start: instantIn(row, 'first'), end: nextInstant(instantIn(row, 'last')) };
  if (span.start >= span.end) throw newMalformedResponse('the first record is later than the last one');
  return { count, span };
}

/** Counts records by bucket. The store returns only cells with records. */
export async function countByBucket(
  client: Client,
  query: Query,
  buckets: Buckets,
  deadline: Deadline,
): Promise<LogHistogram> {
  const { width, offset } = cellsOf(buckets);
  const cell = `${TIME}:${width}ms offset ${offset}ms`;
  const pipes = buckets.isBySeverity
    ? [...severityPipes(), `stats by (${cell}, ${SEVERITY}) count() as n`]
    : [`stats by (${cell}) count() as n`];
  const all = new BucketCounts(buckets);
  const severities = new CountsBySeverity(buckets);
  for await (const rows of client.rows(query, pipes, deadline)) {
    for (const row of rows) {
      const [time, lines] = [instantIn(row, TIME), numberIn(row, 'n')];
      if (!all.add(time, lines)) throw newMalformedResponse('a time is outside the range');
      severities.add(SEVERITY_LEVELS.find((level) => level === row[SEVERITY]) ?? 'none', time, lines);
    }
  }
  return {
    total: { count: all.total, relation: 'eq' },
    counts: all.counts,
    ...(buckets.isBySeverity ? { severities: severities.counts } : {}),
    shortfalls: [],
  };
}

/** Name of a temporary field. The records of the query have no other fields than the time and the message. */
const SEVERITY = '_severity';

/** Pipes that set the field to the severity of the record. Most records match none of the first, most severe levels. */
function severityPipes(): string[] {
  const assignments = SEVERITY_LEVELS.map(
    (level) => `format if (${SEVERITY}:="" ${levelFilter([level])}) "${level}" as ${SEVERITY}`,
  );
  return [`fields ${TIME}, ${MESSAGE}`, ...assignments];
}

/** Counts records and containers. Containers without an id are distinguished by namespace, pod and name. */
export async function countContainers(
  client: Client,
  query: Query,
  { namespace, pod, container, containerID }: FieldNames,
  deadline: Deadline,
): Promise<LogStatistics> {
  const id = quoted(containerID);
  const names = [namespace, pod, container].map(quoted).join(', ');
  const stats = `stats count() as n, count_uniq(${id}) as ids, count_uniq(${names}) if (${id}:="") as named`;
  const [row = {}] = await client.counts(query, stats, deadline);
  const logs = { count: numberIn(row, 'n'), relation: 'eq' } as const;
  const containers = numberIn(row, 'ids') + numberIn(row, 'named');
  return { logs, containers, containersApproximate: false, shortfalls: [] };
}
