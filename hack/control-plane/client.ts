// HTTP client of the development tools, for kube-apiserver, ks-apiserver and the log stores.
import { type IncomingMessage, Agent as PlainAgent, request as requestPlain } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { createSecureContext } from 'node:tls';
import type { KeyPair } from './certificate-authority.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface ClientRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A form (URLSearchParams), text that is sent as it is, or a value that is sent as JSON. */
  readonly body?: unknown;
  /** Content type of text or JSON; `application/json` by default. */
  readonly contentType?: string;
  /** `application/json` by default. */
  readonly accept?: string;
  /** Bearer token, for callers without a client certificate. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

interface ClientTrust {
  /** PEM. */
  readonly ca?: string;
  readonly pair?: KeyPair;
}

/** Sends JSON and forms. Keeps connections open until it is disposed. */
export class Client implements Disposable {
  readonly #base: string;
  readonly #agent: PlainAgent;

  /** `base`: an origin with the scheme http or https. */
  constructor(base: string, { ca, pair }: ClientTrust = {}, maxSockets = 16) {
    this.#base = base;
    const options = { keepAlive: true, maxSockets };
    const trust = { ...(ca === undefined ? {} : { ca }), ...pair };
    this.#agent = base.startsWith('https:')
      ? // Otherwise each connection would parse the certificates again, also each failed poll of a program that starts.
        new Agent({ ...options, secureContext: createSecureContext(trust) })
      : new PlainAgent(options);
  }

  /** Resolves with the headers of any response; rejects only if the connection fails. The caller reads the body. */
  open(path: string, options: ClientRequest = {}): Promise<IncomingMessage> {
    const { method = 'GET', accept = 'application/json', token, signal } = options;
    const { payload, type } = encoded(options);
    return new Promise((resolve, reject) => {
      const send = this.#agent instanceof Agent ? request : requestPlain;
      const outgoing = send(
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
            ...options.headers,
          },
          ...(signal === undefined ? {} : { signal }),
        },
        resolve,
      );
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  /** Resolves with any response; rejects only if the connection fails. */
  async send(path: string, options: ClientRequest = {}): Promise<Answer> {
    const incoming = await this.open(path, options);
    return { status: incoming.statusCode ?? 0, body: await text(incoming) };
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

function encoded({ body, contentType = 'application/json' }: ClientRequest): {
  payload: string | undefined;
  type: string;
} {
  if (body instanceof URLSearchParams) {
    return { payload: body.toString(), type: 'application/x-www-form-urlencoded' };
  }
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return { payload, type: contentType };
}
