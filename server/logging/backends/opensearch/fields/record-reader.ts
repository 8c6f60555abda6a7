// Reads records from the documents of a store.
import { isRecord } from '../../../../../apis/reading/unknown-value.ts';
import { withoutLineEnd } from '../../../line-end.ts';
import type { LogRecord } from '../../../log-store.ts';
import type { JsonObject } from '../connection/json-reader.ts';
import type { Hit } from '../searches/search-answer.ts';
import type { FieldNames } from './field-names.ts';
import { instantOfKey, toInstant } from './instant.ts';

/** Gives what stands at one place of a source; undefined when there is nothing. */
export type Reader = (source: JsonObject) => unknown;

export class RecordReader {
  readonly #time: Reader;
  readonly #message: Reader;
  readonly #namespace: Reader;
  readonly #pod: Reader;
  readonly #container: Reader;
  readonly #nanoseconds: boolean;

  constructor({ time, message, namespace, pod, container }: FieldNames, nanoseconds: boolean) {
    this.#time = readerOf(time);
    this.#message = readerOf(message);
    this.#namespace = readerOf(namespace);
    this.#pod = readerOf(pod);
    this.#container = readerOf(container);
    this.#nanoseconds = nanoseconds;
  }

  read({ source, time }: Hit): LogRecord {
    return {
      time: toInstant(this.#time(source)) ?? instantOfKey(time, this.#nanoseconds),
      log: withoutLineEnd(lineOf(this.#message(source))),
      namespace: asText(this.#namespace(source)),
      pod: asText(this.#pod(source)),
      container: asText(this.#container(source)),
    };
  }
}

/** Collectors nest objects, or write the dots into the names. */
export function readerOf(path: string): Reader {
  const parts = path.split('.');
  const nested = parts.slice(1).map((_, n) => ({
    outer: parts.slice(0, n + 1).join('.'),
    read: readerOf(parts.slice(n + 1).join('.')),
  }));
  return (source) => {
    const whole = source[path];
    if (whole !== undefined) return whole;
    for (const { outer, read } of nested) {
      const inner = source[outer];
      const value = isRecord(inner) ? read(inner) : undefined;
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

/** A list of texts is one line in many: every one of them can be found. */
function lineOf(value: unknown): string {
  if (!Array.isArray(value)) return asText(value);
  return value
    .filter((part) => part !== null)
    .map(asText)
    .join('\n');
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return asText(value[0]);
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
