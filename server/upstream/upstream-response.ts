// Response of another server, with an unread body. The bytes of its headers are unchanged, as Latin-1.
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { ByteChunks } from '../../apis/reading/byte-chunks.ts';

/** Delivers the response. */
interface ResponseSource {
  /** Names and values in turn. */
  readonly rawHeaders?: unknown;
  pause(): void;
  resume(): void;
}

/** Receives a body. After `ended` or `failed` nothing follows. */
export interface BodyReader {
  data(chunk: Buffer): void;
  ended(): void;
  failed(error: Error): void;
}

interface BodyLimit {
  /** Maximum size in bytes. */
  readonly maxBytes: number;
  /** Creates the error of a longer body. */
  readonly tooLong: () => Error;
  /** Timeout in ms of each pause of the body; none by default. */
  readonly idleMs?: number | undefined;
}

/** Maximum number of bytes that wait for a reader. */
const MAX_UNREAD = 64 << 10;

/** The connection has delivered no response, or no data of a body, for a timeout, and counts as broken. */
export class StalledError extends Error {
  /** True if the response headers have arrived. */
  readonly hasHeaders: boolean;

  constructor(timeoutMs: number, what: 'data received for' | 'response within' = 'data received for') {
    super(`no ${what} ${timeoutMs} ms`);
    this.name = 'StalledError';
    this.hasHeaders = what === 'data received for';
  }
}

export class UpstreamResponse {
  readonly statusCode: number;
  /** The reason phrase. */
  readonly statusMessage: string;
  /** Several headers of one name are joined with commas. */
  readonly headers: IncomingHttpHeaders;
  readonly #source: ResponseSource;
  readonly #abandon: (error: Error) => void;
  #rawHeaders: string[] | undefined;
  #reader: BodyReader | undefined;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #isComplete = false;
  #failure: Error | undefined;

  /** `abandon`: closes the connection. */
  constructor(
    source: ResponseSource,
    statusCode: number,
    statusMessage: string,
    headers: Record<string, string | string[] | undefined>,
    abandon: (error: Error) => void,
  ) {
    this.#source = source;
    this.statusCode = statusCode;
    this.statusMessage = statusMessage;
    for (const name in headers) {
      const value = headers[name];
      if (Array.isArray(value) && name !== 'set-cookie') headers[name] = value.join(', ');
    }
    this.headers = headers;
    this.#abandon = abandon;
  }

  /** Names and values in turn. */
  get rawHeaders(): readonly string[] {
    const { rawHeaders } = this.#source;
    this.#rawHeaders ??= Array.isArray(rawHeaders)
      ? rawHeaders.map((part) => (part instanceof Buffer ? part.toString('latin1') : String(part)))
      : [];
    return this.#rawHeaders;
  }

  /** Delivers the body. */
  read(reader: BodyReader): void {
    const failure = this.#failure;
    this.#reader = reader;
    for (const chunk of this.#unread.splice(0)) if (this.#failure === failure) reader.data(chunk);
    if (failure) reader.failed(failure);
    else if (this.#isComplete) reader.ended();
    else this.resume();
  }

  /** Delivers at most one further chunk until resume(). */
  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    if (!this.#isComplete && !this.#failure) this.#source.resume();
  }

  /** Closes the connection, unless the response is complete. The reader gets `error`. */
  destroy(error?: Error): void {
    if (!this.#isComplete && !this.#failure) this.#abandon(error ?? new Error('the response was abandoned'));
  }

  /** Returns the body as a stream, whose destruction closes the connection. */
  stream(): Readable {
    const body = new Readable({
      read: () => this.resume(),
      destroy: (error, done) => {
        this.destroy();
        done(error);
      },
    });
    this.read({
      data: (chunk) => {
        if (!body.push(chunk)) this.pause();
      },
      ended: () => body.push(null),
      failed: (error) => body.destroy(error),
    });
    // Without a listener, a failure before the first read would stop the process.
    return body.on('error', () => undefined);
  }

  /** Reads the whole body. */
  bytes({ maxBytes, tooLong, idleMs }: BodyLimit): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const chunks = new ByteChunks();
    let timer: NodeJS.Timeout | undefined;
    this.read({
      data: (chunk) => {
        timer?.refresh();
        if (chunks.length + chunk.length <= maxBytes) return chunks.add(chunk);
        reject(tooLong());
        this.destroy();
      },
      ended: () => resolve(Buffer.concat(chunks.take())),
      failed: reject,
    });
    // Most bodies arrive together with the headers.
    if (idleMs !== undefined && !this.#isComplete) {
      timer = setTimeout(() => this.destroy(new StalledError(idleMs)), idleMs);
    }
    return promise.finally(() => clearTimeout(timer));
  }

  /** Called by the client. */
  received(chunk: Buffer): void {
    if (this.#failure) return;
    if (this.#reader) return this.#reader.data(chunk);
    this.#unread.push(chunk);
    this.#unreadBytes += chunk.length;
    if (this.#unreadBytes >= MAX_UNREAD) this.pause();
  }

  /** Called by the client. */
  completed(): void {
    if (this.#failure) return;
    this.#isComplete = true;
    this.#reader?.ended();
  }

  /** Called by the client. */
  failed(error: Error): void {
    if (this.#isComplete || this.#failure) return;
    this.#failure = error;
    this.#reader?.failed(error);
  }
}
