// WebSocket client that records the handshake response and the received messages.
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { SecureContextOptions } from 'node:tls';
import { WebSocket } from 'ws';

interface Where {
  /** `ws:` or `wss:`. */
  readonly url: string;
  readonly tls?: SecureContextOptions & { readonly servername?: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
}

type Heard = readonly [kind: 'text' | 'pong', text: string] | readonly [kind: 'close', code: number];

export class WebSocketClient {
  readonly webSocket: WebSocket;
  status = 0;
  headers: IncomingHttpHeaders = {};
  /** Body of a response that is not a handshake. */
  body = '';
  readonly #heard: Heard[] = [];
  #wake: () => void = () => undefined;

  private constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    const hear = (...heard: Heard): void => {
      this.#heard.push(heard);
      this.#wake();
    };
    webSocket.on('message', (data: Buffer) => hear('text', data.toString()));
    webSocket.on('pong', (data) => hear('pong', String(data)));
    webSocket.on('close', (code) => hear('close', code));
    webSocket.on('error', () => undefined);
  }

  /** Resolves with any response to the handshake. */
  static async connect({ url, tls = {}, headers = {}, protocols = [] }: Where): Promise<WebSocketClient> {
    const webSocket = new WebSocket(url, [...protocols], { ...tls, headers });
    const client = new WebSocketClient(webSocket);
    const answer = await Promise.race([
      once(webSocket, 'upgrade').then(([message]) => message as IncomingMessage),
      once(webSocket, 'unexpected-response').then(async ([, message]) => {
        client.body = await text(message as IncomingMessage);
        return message as IncomingMessage;
      }),
    ]);
    client.status = answer.statusCode ?? 0;
    client.headers = answer.headers;
    return client;
  }

  async next(): Promise<Heard> {
    for (;;) {
      const first = this.#heard.shift();
      if (first) return first;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The next text messages, until another event. */
  async texts(count: number): Promise<string[]> {
    const texts: string[] = [];
    while (texts.length < count) {
      const [kind, said] = await this.next();
      if (kind !== 'text') break;
      texts.push(said);
    }
    return texts;
  }

  close(): void {
    this.webSocket.terminate();
  }
}

interface Shaken {
  readonly status: number;
  /** Body of a response other than 101. */
  readonly body: string;
  readonly socket: Duplex;
}

/** Sends a raw handshake, with headers that no client library sends. */
export async function shakeHands(url: string, headers: Readonly<Record<string, string>>): Promise<Shaken> {
  const sent = request(url.replace(/^ws/, 'http'), {
    agent: false,
    headers: {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      ...headers,
    },
  });
  sent.end();
  return await new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('upgrade', ({ statusCode = 0 }, socket) => resolve({ status: statusCode, body: '', socket }));
    sent.on('response', (answer) => {
      text(answer).then(
        (body) => resolve({ status: answer.statusCode ?? 0, body, socket: answer.socket }),
        reject,
      );
    });
  });
}
