// Reads log records from documents of OpenSearch and Elasticsearch, by the configured names of their fields.
import { isRecord } from '../../../../apis/reading/unknown-value.ts';
import { instantOfNanoseconds, parseInstant } from '../../store/instant.ts';
import { type LogRecord, withoutLineEnd } from '../../store/log-store.ts';
import type { Hit, JsonObject } from './search-response.ts';

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

type ValuesReader = (source: JsonObject) => readonly unknown[];

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

function valueCollector(parts: readonly string[]): (source: JsonObject, values: unknown[]) => void {
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
