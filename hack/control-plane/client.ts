import { Agent, request } from 'node:https';
import type { KeyPair } from './certificate-authority.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface ClientRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A form, or what is sent as JSON. */
  readonly body?: unknown;
  /** Of a body in JSON; `application/json` unless told otherwise. */
  readonly contentType?: string;
  /** `application/json` unless told otherwise. */
  readonly accept?: string;
  /** Of a caller who has no certificate. */
  readonly token?: string;
  readonly signal?: AbortSignal;
}

/**
 * JSON and forms over TLS: what setting up a cluster needs, and signing in,
 * and no more. Connections are kept, and closed by close().
 */
export class Client implements Disposable {
  readonly #base: string;
  readonly #agent: Agent;

  constructor(base: string, trust: { ca: string; pair?: KeyPair }, maxSockets = 16) {
    this.#base = base;
    this.#agent = new Agent({ keepAlive: true, maxSockets, ca: trust.ca, ...trust.pair });
  }

  /** Any answer is a result; only a connection that fails is an error. */
  send(path: string, options: ClientRequest = {}): Promise<Answer> {
    const {
      method = 'GET',
      body,
      contentType = 'application/json',
      accept = 'application/json',
      token,
      signal,
    } = options;
    const isForm = body instanceof URLSearchParams;
    const payload = isForm ? body.toString() : body === undefined ? undefined : JSON.stringify(body);
    const type = isForm ? 'application/x-www-form-urlencoded' : contentType;
    return new Promise((resolve, reject) => {
      const outgoing = request(
        new URL(path, this.#base),
        {
          agent: this.#agent,
          method,
          headers: {
            accept,
            'user-agent': 'ks-apiserver-dev',
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(payload === undefined
              ? {}
              : { 'content-type': type, 'content-length': Buffer.byteLength(payload) }),
          },
          ...(signal === undefined ? {} : { signal }),
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.once('error', reject);
          incoming.once('end', () =>
            resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
          );
        },
      );
      outgoing.once('error', reject);
      outgoing.end(payload);
    });
  }

  /** The answer when its status is one of `accepted`, else an error that says what was asked and what came. */
  async expect(path: string, options: ClientRequest, accepted: readonly number[]): Promise<Answer> {
    const answer = await this.send(path, options);
    if (!accepted.includes(answer.status)) {
      throw new Error(`${options.method ?? 'GET'} ${path}: ${answer.status} ${answer.body.slice(0, 500)}`);
    }
    return answer;
  }

  /** The answer to a GET, parsed. */
  async get(path: string, signal?: AbortSignal): Promise<unknown> {
    const answer = await this.expect(path, signal === undefined ? {} : { signal }, [200]);
    return JSON.parse(answer.body);
  }

  close(): void {
    this.#agent.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
