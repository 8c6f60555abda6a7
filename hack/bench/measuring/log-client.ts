// HTTP client of the log benchmarks, with keep-alive connections. The client calls ks-apiserver, OpenSearch and
// VictoriaLogs.
import { readFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { request as requestSecure, Agent as SecureAgent } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { Target } from './load-generator.ts';

export interface LogAnswer {
  readonly status: number;
  /** Retry-After in seconds; 0 if the response has none. */
  readonly retryAfter: number;
  readonly body: Buffer;
}

export interface Posted {
  readonly type: string;
  readonly body: string;
  readonly method?: string;
}

export class LogClient {
  readonly #base: string;
  readonly #agent: Agent;
  readonly #isSecure: boolean;

  private constructor(base: string, agent: Agent) {
    this.#base = base;
    this.#agent = agent;
    this.#isSecure = base.startsWith('https:');
  }

  /** A store on a loopback port. */
  static plain(url: string): LogClient {
    return new LogClient(url, new Agent({ keepAlive: true }));
  }

  /** Our server, with the client certificate of the bench's user. */
  static async secure(url: string, caller: Pick<Target, 'ca' | 'cert' | 'key'>): Promise<LogClient> {
    const [ca, cert, key] = await Promise.all(
      [caller.ca, caller.cert, caller.key].map((file) => readFile(file)),
    );
    return new LogClient(url, new SecureAgent({ keepAlive: true, ca, cert, key }));
  }

  /** Returns the complete response, with any status. */
  async ask(path: string, posted?: Posted): Promise<LogAnswer> {
    const answer = await this.open(path, posted);
    const retryAfter = Number(answer.headers['retry-after'] ?? 0);
    return { status: answer.statusCode ?? 0, retryAfter, body: await buffer(answer) };
  }

  /** Returns the body of a response; throws unless the status is 200. */
  async expect(path: string, posted?: Posted): Promise<Buffer> {
    const { status, body } = await this.ask(path, posted);
    if (status !== 200) throw new Error(`${path}: ${status} ${body.toString('utf8').slice(0, 300)}`);
    return body;
  }

  async json(path: string, posted?: Posted): Promise<unknown> {
    return JSON.parse((await this.expect(path, posted)).toString('utf8'));
  }

  open(path: string, posted?: Posted, signal?: AbortSignal): Promise<IncomingMessage> {
    const send = this.#isSecure ? requestSecure : request;
    const headers = {
      'accept-encoding': 'identity',
      ...(posted ? { 'content-type': posted.type, 'content-length': Buffer.byteLength(posted.body) } : {}),
    };
    const method = posted?.method ?? (posted ? 'POST' : 'GET');
    return new Promise((resolve, reject) => {
      send(
        `${this.#base}${path}`,
        { agent: this.#agent, method, headers, ...(signal ? { signal } : {}) },
        resolve,
      )
        .once('error', reject)
        .end(posted?.body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Reads the response and counts its lines. */
export async function countLines(answer: AsyncIterable<Buffer>): Promise<number> {
  let lines = 0;
  for await (const chunk of answer) {
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
  }
  return lines;
}

const NEWLINE = 0x0a;

/** Returns the nested JSON member at the path; undefined if it is missing. */
export function memberOf(value: unknown, ...path: readonly string[]): unknown {
  let member = value;
  for (const name of path) {
    member = typeof member === 'object' && member !== null ? Reflect.get(member, name) : undefined;
  }
  return member;
}
