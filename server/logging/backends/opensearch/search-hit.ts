// Hits of a search in OpenSearch or Elasticsearch, and the records in their documents.
import { parseBoundedJSON } from '../../../../apis/reading/bounded-json.ts';
import { BACKSLASH, QUOTE } from '../../../../apis/reading/json-bytes.ts';
import { isRecord, record } from '../../../../apis/reading/unknown-value.ts';
import type { TimeSlices } from '../../../concurrency/time-slicer.ts';
import { instantOfNanoseconds, parseInstant } from '../../store/instant.ts';
import { type LogRecord, withoutLineEnd } from '../../store/log-store.ts';

type Source = Readonly<Record<string, unknown>>;

export interface Hit {
  readonly index: string;
  readonly id: string;
  readonly source: Source;
  /** Time from the sort key, in nanoseconds since the epoch. */
  readonly time: bigint;
  /** `_seq_no` of the document in its shard. */
  readonly sequence: number;
  /** Whether a text of the document is truncated. */
  readonly isTruncated: boolean;
}

/** The field of the document, and the last field of a hit. Neither can be within a JSON string without escapes. */
const SOURCE_KEY = '"_source":';
const SORT_KEY = '"sort":[';
/** The second byte of an escape of six bytes. */
const LETTER_U = 0x75;

/** Maximum bytes of a text in JSON. A longer one would block the event loop in each step up to the response. */
export const MAX_TEXT_BYTES = 1 << 20;
/** Maximum bytes of a hit with truncated texts. */
const MAX_HIT_BYTES = 4 * MAX_TEXT_BYTES;
const BYTES_PER_CHECK = 1 << 16;

/** Parses a hit. JSON.parse rounds nanoseconds, so the sort key is parsed from the text. */
export function hitOf(bytes: Buffer, unit: bigint, isTruncated: boolean): Hit {
  const { _index, _id, _source, sort } = record(parsedHit(bytes));
  const [time, sequence] = Array.isArray(sort) ? sort : [];
  if (typeof _index !== 'string' || typeof _id !== 'string') throw new Error('a hit has no index or id');
  if (typeof sequence !== 'number') throw new Error('a hit has no sort key');
  const at = bytes.lastIndexOf(SORT_KEY) + SORT_KEY.length;
  const key = /^-?\d+/.exec(bytes.toString('latin1', at, at + 32))?.[0] ?? '';
  if (Number(key) !== time) throw new Error('a sort key cannot be read');
  return {
    index: _index,
    id: _id,
    source: isRecord(_source) ? _source : {},
    time: BigInt(key) * unit,
    sequence,
    isTruncated,
  };
}

/** Without a document beyond the limits: a container that writes one must not make the lines of all others unreadable. */
function parsedHit(bytes: Buffer): unknown {
  try {
    if (bytes.length > MAX_HIT_BYTES) throw new SyntaxError('the document is too long');
    return parseBoundedJSON(bytes);
  } catch {
    const [source, sort] = [bytes.indexOf(SOURCE_KEY), bytes.lastIndexOf(SORT_KEY)];
    return parseBoundedJSON(Buffer.concat([bytes.subarray(0, source), bytes.subarray(sort)]));
  }
}

/** Truncates each text of a hit to MAX_TEXT_BYTES; time-sliced. Returns the same buffer if no text is longer. */
export async function withShortTexts(json: Buffer, slices: TimeSlices): Promise<Buffer> {
  const parts: Buffer[] = [];
  let kept = 0;
  /** Offset of the open text. */
  let begin: number | undefined;
  for (let at = 0, checked = 0; at < json.length; at++) {
    const byte = json[at];
    if (begin === undefined) {
      if (byte === QUOTE) begin = at + 1;
    } else if (byte === BACKSLASH) {
      at++;
    } else if (byte === QUOTE) {
      if (at - begin > MAX_TEXT_BYTES) {
        parts.push(json.subarray(kept, truncation(json, begin)));
        kept = at;
      }
      begin = undefined;
    }
    if (at - checked < BYTES_PER_CHECK) continue;
    checked = at;
    if (slices.spent) await slices.next();
  }
  return kept === 0 ? json : Buffer.concat([...parts, json.subarray(kept)]);
}

/** Returns where a text that begins at `begin` is truncated: not within an escape or a character. */
function truncation(json: Buffer, begin: number): number {
  let end = begin;
  for (let at = begin; at <= begin + MAX_TEXT_BYTES - 6; ) {
    end = at;
    const escape = json[at + 1] === LETTER_U ? 6 : 2;
    at += json[at] === BACKSLASH ? escape : 1;
  }
  while (((json[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

/** Configured names of the fields in documents. */
export interface FieldNames {
  readonly time: string;
  readonly message: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly containerID: string;
}

/** Depth of nested lists that are read. */
const MAX_DEPTH = 20;

type ValuesReader = (source: Source) => readonly unknown[];

export class RecordReader {
  readonly #time: ValuesReader;
  readonly #message: ValuesReader;
  readonly #namespaces: ValuesReader;
  readonly #pod: ValuesReader;
  readonly #container: ValuesReader;

  constructor({ time, message, namespace, pod, container }: FieldNames) {
    this.#time = valuesReader(time);
    this.#message = valuesReader(message);
    this.#namespaces = valuesReader(namespace);
    this.#pod = valuesReader(pod);
    this.#container = valuesReader(container);
  }

  /**
   * Reads a record. Its time is from the document, or from the sort key if the document has another format than RFC
   * 3339.
   */
  read({ source, time }: Hit): LogRecord {
    return {
      time: parseInstant(this.#time(source)[0]) ?? instantOfNanoseconds(time),
      // Of a list, all texts, because each of them is searchable.
      log: withoutLineEnd(this.#message(source).map(textIn).join('\n')),
      namespace: namespaceOf(this.#namespaces(source)),
      pod: textIn(this.#pod(source)[0]),
      container: textIn(this.#container(source)[0]),
    };
  }
}

/**
 * The namespace. A search finds a record by each of several values, so all of them are its name, which no namespace has:
 * a collector that adds the fields of a line to the record lets a container write further values.
 */
function namespaceOf(values: readonly unknown[]): string {
  return values.length === 1 ? textIn(values[0]) : [...new Set(values.map(textIn))].join(',');
}

/** Reads all values of `a.b` from `{"a.b": …}` and `{"a": {"b": …}}`, because collectors write both forms, and from lists. */
function valuesReader(path: string): ValuesReader {
  const collect = valueCollector(path.split('.'));
  return (source) => {
    const values: unknown[] = [];
    collect(source, values);
    return values;
  };
}

function valueCollector(parts: readonly string[]): (source: Source, values: unknown[]) => void {
  const members = parts.map((_, n) => ({
    name: parts.slice(0, n + 1).join('.'),
    collect: n + 1 < parts.length ? valueCollector(parts.slice(n + 1)) : undefined,
  }));
  return (source, values) => {
    for (const { name, collect } of members) {
      const member = source[name];
      for (const value of Array.isArray(member) ? member.flat(MAX_DEPTH) : [member]) {
        if (value === undefined || value === null) continue;
        if (!collect) values.push(value);
        else if (isRecord(value)) collect(value, values);
      }
    }
  };
}

function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
