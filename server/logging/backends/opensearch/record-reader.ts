// Reader for records in `_source`.
import { isRecord } from '../../../../apis/reading/unknown-value.ts';
import { instantOf } from '../../instant.ts';
import { withoutLineEnd } from '../../line-end.ts';
import type { Instant, LogRecord } from '../../log-store.ts';
import type { JsonObject } from './json-reader.ts';
import type { FieldNames } from './layout.ts';
import type { Hit } from './search-response.ts';

type ValueReader = (source: JsonObject) => unknown;

export class RecordReader {
  readonly #time: ValueReader;
  readonly #message: ValueReader;
  readonly #namespace: ValueReader;
  readonly #pod: ValueReader;
  readonly #container: ValueReader;

  constructor({ time, message, namespace, pod, container }: FieldNames) {
    this.#time = valueReader(time);
    this.#message = valueReader(message);
    this.#namespace = valueReader(namespace);
    this.#pod = valueReader(pod);
    this.#container = valueReader(container);
  }

  /** The time is that of the document, or of the sort key if the format is known to the mapping only. */
  read({ source, time }: Hit): LogRecord {
    return {
      time: instantIn(this.#time(source)) ?? instantOfNanoseconds(time),
      log: withoutLineEnd(lineIn(this.#message(source))),
      namespace: textIn(this.#namespace(source)),
      pod: textIn(this.#pod(source)),
      container: textIn(this.#container(source)),
    };
  }
}

/** Reads `a.b` from `{"a": {"b": …}}` and from `{"a.b": …}`: collectors write both. */
function valueReader(path: string): ValueReader {
  const parts = path.split('.');
  const nested = parts.slice(1).map((_, n) => ({
    outer: parts.slice(0, n + 1).join('.'),
    read: valueReader(parts.slice(n + 1).join('.')),
  }));
  return (source) => {
    const own = source[path];
    if (own !== undefined) return own;
    for (const { outer, read } of nested) {
      const inner = source[outer];
      const value = isRecord(inner) ? read(inner) : undefined;
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

/** Each text of a list is searchable, so each is a part of the line. */
function lineIn(value: unknown): string {
  if (!Array.isArray(value)) return textIn(value);
  return value
    .filter((part) => part !== null)
    .map(textIn)
    .join('\n');
}

function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return textIn(value[0]);
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

const RFC3339 =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9})\d*)?(?:(Z)|([+-]\d{2}):?(\d{2})?)?$/i;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z$/;

/** A time as RFC 3339 writes it, with all its digits; undefined for other formats, such as numbers. */
export function instantIn(value: unknown): Instant | undefined {
  if (typeof value !== 'string') return undefined;
  if (INSTANT.test(value)) return value;
  const match = RFC3339.exec(value);
  if (!match) return undefined;
  const [, day, clock = '', fraction = '', , hours, minutes] = match;
  const offset = hours === undefined ? 'Z' : `${hours}:${minutes ?? '00'}`;
  const milliseconds = Date.parse(`${day}T${clock.length === 5 ? `${clock}:00` : clock}${offset}`);
  if (Number.isNaN(milliseconds)) return undefined;
  return `${new Date(milliseconds).toISOString().slice(0, 19)}.${fraction.padEnd(9, '0')}Z`;
}

/** Since the epoch. */
export function instantOfNanoseconds(nanoseconds: bigint): Instant {
  const rest = String(nanoseconds % 1_000_000n).padStart(6, '0');
  return `${instantOf(millisecondsOfNanoseconds(nanoseconds)).slice(0, 23)}${rest}Z`;
}

/** Rounded down. */
export function millisecondsOfNanoseconds(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n);
}
