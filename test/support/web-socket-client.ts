// A client of WebSockets that shows everything: which answer the handshake got, and each frame as it came.
import { randomBytes } from 'node:crypto';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecure, type SecureContextOptions } from 'node:tls';

export interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
}

export interface Where {
  readonly port: number;
  /** Without it over plain TCP. */
  readonly tls?: SecureContextOptions & { readonly servername?: string };
  readonly path: string;
  /** Beside those of the handshake; an empty value leaves one of those out. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Frames that are sent at once, before the answer to the handshake. */
  readonly early?: Buffer;
}

const NOTHING: Buffer = Buffer.alloc(0);

export const TEXT = 0x1;
export const CLOSE = 0x8;
export const PING = 0x9;
export const PONG = 0xa;

/** A frame as clients have to send it. */
export function clientFrame(opcode: number, payload: Buffer, final = true): Buffer {
  const mask = randomBytes(4);
  const { length } = payload;
  const extended = Buffer.alloc(length < 126 ? 0 : length < 2 ** 16 ? 2 : 8);
  if (extended.length === 2) extended.writeUInt16BE(length);
  if (extended.length === 8) extended.writeBigUInt64BE(BigInt(length));
  const short = extended.length === 0 ? length : extended.length === 2 ? 126 : 127;
  const masked = payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return Buffer.concat([Buffer.from([(final ? 0x80 : 0) | opcode, 0x80 | short]), extended, mask, masked]);
}

export class WebSocketClient {
  readonly socket: Socket;
  readonly #chunks: AsyncIterator<Buffer>;
  /** The status line and the headers of the answer. */
  head = '';
  #rest: Buffer = NOTHING;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    this.#chunks = socket.iterator({ destroyOnReturn: false });
  }

  /** Resolves when the handshake is answered, however it is. */
  static async connect({ port, tls, path, headers = {}, early = NOTHING }: Where): Promise<WebSocketClient> {
    const at = { host: '127.0.0.1', port };
    const socket = tls ? connectSecure({ ...at, ...tls }) : connectPlain(at);
    const client = new WebSocketClient(socket);
    const all = {
      Host: `127.0.0.1:${port}`,
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
      ...headers,
    };
    const lines = Object.entries(all).filter(([, value]) => value !== '');
    const head = [`GET ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''];
    socket.write(Buffer.concat([Buffer.from(head.join('\r\n')), early]));
    for (;;) {
      const end = client.#rest.indexOf('\r\n\r\n');
      if (end >= 0) {
        client.head = client.#rest.subarray(0, end).toString('latin1');
        client.#rest = client.#rest.subarray(end + 4);
        return client;
      }
      if (!(await client.#more())) throw new Error(`no answer but ${client.#rest.toString()}`);
    }
  }

  get status(): number {
    return Number(this.head.split(' ')[1]);
  }

  send(opcode: number, payload: Buffer | string = ''): void {
    this.socket.write(clientFrame(opcode, Buffer.from(payload)));
  }

  /** The next frame, or undefined when the server has closed its side. */
  async next(): Promise<Frame | undefined> {
    for (;;) {
      const frame = this.#take();
      if (frame) return frame;
      if (!(await this.#more())) return undefined;
    }
  }

  /** The next texts, as far as they come before anything else. */
  async texts(count: number): Promise<string[]> {
    const texts: string[] = [];
    while (texts.length < count) {
      const frame = await this.next();
      if (frame?.opcode !== TEXT) break;
      texts.push(frame.payload.toString());
    }
    return texts;
  }

  /** What comes behind the head of an answer that is no handshake. */
  async body(): Promise<string> {
    while (await this.#more());
    return this.#rest.toString();
  }

  close(): void {
    this.socket.destroy();
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#chunks.next();
    if (done) return false;
    this.#rest = Buffer.concat([this.#rest, value]);
    return true;
  }

  #take(): Frame | undefined {
    const [first = 0, second = 0] = this.#rest;
    const extended = second === 126 ? 2 : second === 127 ? 8 : 0;
    const start = 2 + extended;
    if (this.#rest.length < start) return undefined;
    const length =
      extended === 0
        ? second
        : extended === 2
          ? this.#rest.readUInt16BE(2)
          : Number(this.#rest.readBigUInt64BE(2));
    if (this.#rest.length < start + length) return undefined;
    const payload = this.#rest.subarray(start, start + length);
    this.#rest = this.#rest.subarray(start + length);
    return { opcode: first & 0x0f, payload };
  }
}
