// Client of a stream of ascending numbers: a watch of an object with a counter, or a live tail of a program that
// counts. It resumes after each end of the stream. A missing number is a failure.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { text as body } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import type { KeyPair } from '../../hack/control-plane/certificate-authority.ts';
import type { Recorder } from '../../hack/soak/load.ts';

export interface StreamServer {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly pair?: KeyPair;
  readonly token?: string;
}

export interface Protocol {
  /** The request that continues after the last line. */
  readonly request: () => { readonly path: string; readonly headers?: Readonly<Record<string, string>> };
  /** Returns the number of a line, if it has one. */
  readonly read: (line: string) => number | undefined;
  /** A resumed stream repeats lines. */
  readonly repeats?: boolean;
}

/** Several numbers arrive per second, so a silent stream is broken. */
const SILENT_MS = 10_000;
const RETRY_MS = 50;
export const COUNTER = 'disruption-counter';

export class Follower {
  readonly name: string;
  /** The last number. */
  last = -1;
  resumed = 0;
  readonly #protocol: Protocol;

  constructor(name: string, protocol: Protocol) {
    this.name = name;
    this.#protocol = protocol;
  }

  async run(server: StreamServer, recorder: Recorder, signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn++) {
      try {
        const response = await recorder.time(this.name, () => this.#open(server, signal));
        if (turn > 0) this.resumed++;
        try {
          for await (const line of createInterface(response)) this.#take(line);
        } finally {
          response.destroy();
        }
        if (!response.complete) throw new Error('socket hang up within the stream');
      } catch (error) {
        if (!signal.aborted) recorder.fail(this.name, error);
        await delay(RETRY_MS);
      }
    }
  }

  async #open({ url, ca, pair, token }: StreamServer, signal: AbortSignal): Promise<IncomingMessage> {
    const { path, headers } = this.#protocol.request();
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const options = { ca, ...pair, agent: false, signal, headers: { ...headers, ...authorization } };
    const outgoing = request(new URL(path, url), options).end();
    outgoing.setTimeout(SILENT_MS, () => outgoing.destroy(new Error(`silent for ${SILENT_MS} ms`)));
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    for (const each of [outgoing, response]) each.on('error', () => undefined);
    if (response.statusCode === 200) return response;
    throw new Error(`GET ${path}: ${response.statusCode} ${await body(response)}`);
  }

  #take(line: string): void {
    const [before, number] = [this.last, this.#protocol.read(line)];
    // Other changes of the object have the same number.
    if (number === undefined || number === before || (number < before && this.#protocol.repeats)) return;
    this.last = number;
    if (before >= 0 && number !== before + 1) throw new Error(`${number} came after ${before}`);
  }
}

/** Watches one object of a list, from the resourceVersion of the list. */
export function watch(list: string, name: string, resourceVersion: string): Protocol {
  const query = `watch=1&fieldSelector=metadata.name%3D${name}`;
  let version = resourceVersion;
  return {
    request: () => ({ path: `${list}?${query}&resourceVersion=${version}` }),
    read: (line) => {
      const { type, object } = record(JSON.parse(line));
      if (type === 'ERROR') throw new Error(`the watch failed: ${line}`);
      const metadata = recordIn(object, 'metadata');
      version = text(metadata['resourceVersion']);
      const value = recordIn(metadata, 'annotations')[COUNTER];
      return value === undefined ? undefined : Number(value);
    },
  };
}

/** Follows a log with lines `line NUMBER`, by Server-Sent Events. */
export function tail(path: string): Protocol {
  let id: Readonly<Record<string, string>> = {};
  return {
    repeats: true,
    request: () => ({ path, headers: { accept: 'text/event-stream', ...id } }),
    read: (line) => {
      if (line.startsWith('event: failure')) throw new Error('the tail failed');
      if (line.startsWith('id: ')) id = { 'last-event-id': line.slice('id: '.length) };
      const number = /"log":"line (\d+)/.exec(line)?.[1];
      return number === undefined ? undefined : Number(number);
    },
  };
}
