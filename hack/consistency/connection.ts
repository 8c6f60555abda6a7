// Client of one caller, for the consistency test. Each response has the cache status of the gateway: a hit, or the
// reason why the gateway forwarded the request.
import type { IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { Client } from '../control-plane/client.ts';

export interface Reply {
  readonly status: number;
  /** `hit`, or the reason why the gateway forwarded the request; `direct` without the gateway. */
  readonly result: string;
  readonly body: string;
}

interface Stream {
  readonly status: number;
  readonly result: string;
  /** The lines of the response. Ends without an error if the connection fails. */
  readonly lines: AsyncIterable<string>;
}

export class Connection {
  readonly #client: Client;
  readonly #token: string;

  constructor(url: string, ca: string, token: string) {
    this.#client = new Client(url, { ca }, Number.POSITIVE_INFINITY);
    this.#token = token;
  }

  async send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Reply> {
    const response = await this.#client.open(path, { method, body, token: this.#token });
    return { status: response.statusCode ?? 0, result: resultOf(response), body: await textOf(response) };
  }

  async stream(path: string, signal: AbortSignal): Promise<Stream> {
    const response = await this.#client.open(path, { token: this.#token, signal });
    return { status: response.statusCode ?? 0, result: resultOf(response), lines: linesOf(response) };
  }

  close(): void {
    this.#client.close();
  }
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  try {
    for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch {
    // The connection failed, or the caller has aborted the request.
  }
}

function resultOf({ headers }: IncomingMessage): string {
  const value = headers['cache-status'];
  if (typeof value !== 'string') return 'direct';
  return value.includes('; hit') ? 'hit' : value.replace(/^.*detail=/, '');
}
