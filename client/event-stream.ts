// Server-Sent Events over `fetch`, because EventSource cannot send a token:
// https://html.spec.whatwg.org/multipage/server-sent-events.html
import { LineSplitter } from './line-splitter.ts';
import { reconnecting, type StreamOptions } from './reconnecting.ts';
import { ConnectionError } from './status-error.ts';
import type { Query, Transport } from './transport.ts';

/** One event of a stream. */
export interface StreamEvent {
  /** The last event ID of the stream; empty if it has none. */
  readonly id: string;
  /** The type; `message` if the stream names none. */
  readonly event: string;
  readonly data: string;
}

/** The server sends a comment every 15 seconds. */
const HEARTBEAT_LIMIT = 50_000;

/**
 * What `read` makes of the events of a path; undefined is skipped. Reconnects, and resumes after the last event.
 * `connected` is called for each connection.
 */
export function followEvents<T extends object>(
  transport: Transport,
  { path, query }: { readonly path: string; readonly query: Query },
  read: (event: StreamEvent) => T | undefined,
  options: StreamOptions,
  connected?: () => void,
): AsyncGenerator<T, void, undefined> {
  let last = '';
  // Throws for an invalid query, which no retry can help.
  transport.url(path, query);
  return reconnecting(async function* (signal, opened) {
    const headers = { Accept: 'text/event-stream', ...(last === '' ? {} : { 'Last-Event-ID': last }) };
    const { exchange, response } = await transport.open(path, { query, headers, signal });
    if (response.headers.get('Content-Type')?.startsWith('text/event-stream') !== true) {
      exchange.close();
      // For example the page of a proxy that has no backend, or wants a sign-in of its own.
      throw new ConnectionError(`${exchange.what}: the response is not an event stream`);
    }
    opened();
    connected?.();
    for await (const event of eventsIn(exchange.chunks(response, HEARTBEAT_LIMIT))) {
      const item = read(event);
      if (item !== undefined) yield item;
      last = event.id;
    }
  }, options);
}

/** Maximum of characters of an event. */
const MAX_DATA = 128 * 1024 * 1024;

/** The events of a body. An event that is not complete at the end is dropped. */
export async function* eventsIn(
  chunks: AsyncIterable<Uint8Array>,
  max = MAX_DATA,
): AsyncGenerator<StreamEvent, void, undefined> {
  const decoder = new TextDecoder();
  const splitter = new LineSplitter({ carriageReturns: true });
  const parser = new EventParser(max);
  for await (const chunk of chunks) {
    for (const line of splitter.push(decoder.decode(chunk, { stream: true }))) {
      const event = parser.line(line);
      if (event !== undefined) yield event;
    }
  }
}

class EventParser {
  #id = '';
  #event = '';
  #data: string[] = [];
  #length = 0;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes one line. Returns the event that it ends. */
  line(line: string): StreamEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    // A comment: the server sends one as a heartbeat.
    if (colon === 0) return undefined;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.#append(value);
    if (name === 'event') this.#event = value;
    if (name === 'id' && !value.includes('\0')) this.#id = value;
    return undefined;
  }

  #append(value: string): void {
    // An empty line takes memory too.
    this.#length += value.length + 1;
    if (this.#length > this.#max) throw new Error(`an event has more than ${this.#max} characters`);
    this.#data.push(value);
  }

  #dispatch(): StreamEvent | undefined {
    const [data, event] = [this.#data, this.#event];
    this.#data = [];
    this.#event = '';
    this.#length = 0;
    return data.length === 0 ? undefined : { id: this.#id, event: event || 'message', data: data.join('\n') };
  }
}
