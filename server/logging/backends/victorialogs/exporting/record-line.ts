// A row of the store as a line of our NDJSON: it names and orders the members itself, so that most lines need only a
// look. A line is a string of bytes here, each of them a character whatever it is a part of: so it costs no decoding.
import { isUtf8 } from 'node:buffer';
import type { Instant, LogRecord } from '../../../log-store.ts';
import { isASCII } from '../../../matching/letter-case.ts';
import { instantFrom } from '../requests/nanoseconds.ts';
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

/** Of whole lines, in the form that `recordPipes` gave them. Throws when it has another one. */
export function linesIn(piece: Buffer): string[] {
  const text = (isUtf8(piece) ? piece : Buffer.from(piece.toString('utf8'))).toString('latin1');
  const lines = text.split('\n').filter((line) => line !== '');
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (!WHOLE.test(line)) lines[index] = wholeLine(line);
  }
  return lines;
}

const TIME_BEGIN = '{"time":"'.length;
const TIME_END = TIME_BEGIN + '0000-00-00T00:00:00.000000000Z'.length;
/** A line with all its members. Quotes within strings are escaped, so none can be taken for an end. */
const WHOLE =
  /^\{"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z","namespace":"[^"\\]*","pod":"[^"\\]*","container":"[^"\\]*","log":".*"\}$/;
const BEGIN = /^\{"time":"([^"\\]{19,30})"/;

/** The store leaves out zeros at the end of a time, and members that are empty. */
function wholeLine(line: string): string {
  const [begin = '', text = ''] = BEGIN.exec(line) ?? [];
  const time = instantFrom(text);
  const timed = time === undefined ? line : `{"time":"${time}"${line.slice(begin.length)}`;
  if (WHOLE.test(timed)) return timed;
  const [record] = recordsIn([line]);
  return Buffer.from(JSON.stringify(record)).toString('latin1');
}

/** All in one go, which costs less. */
export function recordsIn(lines: readonly string[]): LogRecord[] {
  const text = lines.join('\n');
  return rowsIn(isASCII(text) ? text : Buffer.from(text, 'latin1').toString('utf8')).map(recordIn);
}

function recordIn(row: Row): LogRecord {
  const time = typeof row['time'] === 'string' ? instantFrom(row['time']) : undefined;
  if (time === undefined) throw newNonsense('a line without time');
  const text = (member: string): string => {
    const value = row[member];
    return typeof value === 'string' ? value : '';
  };
  return {
    time,
    namespace: text('namespace'),
    pod: text('pod'),
    container: text('container'),
    log: text('log'),
  };
}

/** Of a line that `linesIn` made. */
export function timeOf(line: string): Instant {
  return line.slice(TIME_BEGIN, TIME_END);
}
