// HTTPS client of one caller, for the consistency test. Each response has the cache status of the gateway: a hit, or the
// reason why the gateway forwarded the request.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text as textOf } from 'node:stream/consumers';

export interface Reply {
  readonly status: number;
  /** `hit`, or the reason why the gateway forwarded the request; `direct` without the gateway. */
  readonly result: string;
  readonly body: string;
}

export interface Stream {
  readonly status: number;
  readonly result: string;
  /** The lines of the response. Ends without an error if the connection fails. */
  readonly lines: AsyncIterable<string>;
}

export class Connection {
  readonly #url: string;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(url: string, ca: string, token: string) {
    this.#url = url;
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, ca });
  }

  async send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Reply> {
    const response = await this.#open(method, path, body);
    return { status: response.statusCode ?? 0, result: resultOf(response), body: await textOf(response) };
  }

  async stream(path: string, signal: AbortSignal): Promise<Stream> {
    const response = await this.#open('GET', path, undefined, signal);
    return { status: response.statusCode ?? 0, result: resultOf(response), lines: linesOf(response) };
  }

  close(): void {
    this.#agent.destroy();
  }

  async #open(method: string, path: string, body?: object, signal?: AbortSignal): Promise<IncomingMessage> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      accept: 'application/json',
      'content-type': 'application/json',
    };
    const options = { agent: this.#agent, method, headers, ...(signal ? { signal } : {}) };
    const outgoing = request(new URL(path, this.#url), options);
    outgoing.end(body && JSON.stringify(body));
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    outgoing.on('error', () => undefined);
    return response;
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
