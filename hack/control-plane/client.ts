// HTTPS client of the development tools, for kube-apiserver and ks-apiserver.
import { Agent, request } from 'node:https';
import type { KeyPair } from './certificate-authority.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface ClientRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A form (URLSearchParams), or a value that is sent as JSON. */
  readonly body?: unknown;
  /** Content type of a JSON body; `application/json` by default. */
  readonly contentType?: string;
  /** `application/json` by default. */
  readonly accept?: string;
  /** Bearer token, for callers without a client certificate. */
  readonly token?: string;
  readonly signal?: AbortSignal;
}

/** Sends JSON and forms. Keeps connections open until it is disposed. */
export class Client implements Disposable {
  readonly #base: string;
  readonly #agent: Agent;

  constructor(base: string, trust: { ca: string; pair?: KeyPair }, maxSockets = 16) {
    this.#base = base;
    this.#agent = new Agent({ keepAlive: true, maxSockets, ca: trust.ca, ...trust.pair });
  }

  /** Resolves with any response; rejects only if the connection fails. */
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

  /** Resolves if the status is one of `accepted`; else rejects with the request and the response in the message. */
  async expect(path: string, options: ClientRequest, accepted: readonly number[]): Promise<Answer> {
    const answer = await this.send(path, options);
    if (!accepted.includes(answer.status)) {
      throw new Error(`${options.method ?? 'GET'} ${path}: ${answer.status} ${answer.body.slice(0, 500)}`);
    }
    return answer;
  }

  /** Parsed response to a GET. */
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
