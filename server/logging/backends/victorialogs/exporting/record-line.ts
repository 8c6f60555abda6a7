// A row of the store as a line of our NDJSON: it names and orders the members itself, so that most lines need only a
// look (line-table.ts).
import type { LogRecord } from '../../../log-store.ts';
import { recordOf } from '../requests/record.ts';
import { rowsIn } from '../requests/rows.ts';
import type { FieldNames } from '../selection/fields.ts';
import { quoted, TIME } from '../selection/logsql.ts';

/** Names that no field of the store has. */
const OURS = 'ks_';

/** The pipes that make rows such lines, behind those that find and sort. */
export function recordPipes({ namespace, pod, container, message }: FieldNames): string[] {
  const sources = Object.entries({ time: TIME, namespace, pod, container, log: message });
  const copies = sources.map(([member, field]) => `${quoted(field)} as ${OURS}${member}`);
  // By way of other names, as a field may be called what another one is to be called.
  return [
    `copy ${copies.join(', ')}`,
    `fields ${sources.map(([member]) => `${OURS}${member}`).join(', ')}`,
    `rename ${sources.map(([member]) => `${OURS}${member} as ${member}`).join(', ')}`,
  ];
}

/**
 * The line with all its members, of which the store leaves out those that are empty, and without a newline of its own at
 * the end of what it says. Throws when it is none.
 */
export function mendedLine(line: Buffer): Buffer {
  const [record] = recordsIn(line.toString('utf8'));
  return Buffer.from(JSON.stringify(record));
}

const MEMBERS = { message: 'log', namespace: 'namespace', pod: 'pod', container: 'container' } as const;

/** All at once, which costs less. The last one has no newline. */
export function recordsIn(lines: string): LogRecord[] {
  return rowsIn(lines).map((row) => recordOf(row, MEMBERS, 'time'));
}
