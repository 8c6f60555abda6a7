// A row of the store as a line of our NDJSON: it names and orders the members itself, so that most lines need only a
// look (line-table.ts).
import { text } from '../../../../../apis/reading/unknown-value.ts';
import type { LogRecord } from '../../../log-store.ts';
import { instantFrom } from '../requests/nanoseconds.ts';
import { lineIn } from '../requests/record.ts';
import { newNonsense } from '../requests/refusal.ts';
import { type Row, rowsIn } from '../requests/rows.ts';
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

/** All at once, which costs less. The last one has no newline. */
export function recordsIn(lines: string): LogRecord[] {
  return rowsIn(lines).map(recordIn);
}

function recordIn(row: Row): LogRecord {
  const time = typeof row['time'] === 'string' ? instantFrom(row['time']) : undefined;
  if (time === undefined) throw newNonsense('a line without time');
  return {
    time,
    namespace: text(row['namespace']),
    pod: text(row['pod']),
    container: text(row['container']),
    log: lineIn(text(row['log'])),
  };
}
