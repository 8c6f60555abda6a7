// Writing bodies: headers that all reads share, and a loop that waits for slow readers.
import type { IncomingMessage, ServerResponse } from 'node:http';

export const JSON_HEADERS = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-cache, private',
  Vary: 'Accept, Accept-Encoding, Origin',
} as const;

/** Bytes that may wait in the socket before a body's next chunk is made. */
const HIGH_WATER = 1024 * 1024;
/** What all bodies have of that together: with more than 32 of them, each has less. */
const ALL_WAITING = 32 * HIGH_WATER;

/** Bodies that are being written. */
let open = 0;

/** What is handed to TLS at a time: it encrypts all of that at once, for each reader, however slowly he takes it. */
export const PIECE = 64 * 1024;

/** Of a body that is there as a whole. */
export function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE) yield bytes.subarray(start, start + PIECE);
}

/**
 * Of a body that is made piece by piece: pieces are joined until they are more than GZIP_THRESHOLD bytes. So a first chunk
 * that is not is the whole body.
 */
export function* joined(pieces: Iterable<Buffer>): Generator<Buffer, undefined> {
  let waiting: Buffer[] = [];
  let size = 0;
  for (const piece of pieces) {
    waiting.push(piece);
    size += piece.length;
    if (size <= GZIP_THRESHOLD) continue;
    yield Buffer.concat(waiting, size);
    waiting = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(waiting, size);
  return undefined;
}

/** Resolves when what was written has left for the kernel, or when nothing will leave any more. */
function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
    signal.addEventListener('abort', done);
  });
}

/**
 * Writes all chunks, never much more of them at a time than the reader takes, and ends the response.
 * `highWater`: bytes that may wait in the socket before the next chunk is made.
 * A body that cannot be completed is cut off, so that nobody takes it for whole.
 */
export async function writeBody(
  response: ServerResponse,
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
  signal: AbortSignal,
  highWater = HIGH_WATER,
): Promise<void> {
  // An answer to HEAD has none, so none is made.
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  open++;
  try {
    for await (const chunk of chunks) {
      if (signal.aborted || response.destroyed) {
        response.destroy();
        return;
      }
      if (response.write(chunk)) continue;
      if (response.writableLength > Math.min(highWater, ALL_WAITING / open)) await drained(response, signal);
    }
  } finally {
    open--;
  }
  if (signal.aborted) response.destroy();
  else response.end();
}

// Whether a body is worth compressing, and for whom.
/** Bodies up to this size go out as they are, as from kube-apiserver. */
export const GZIP_THRESHOLD = 128 * 1024;

/** More codings, or parts of one, than any client names; what comes behind them is not looked at. */
const MAX_CODINGS = 64;
const MAX_PARTS = 16;

/** Also when nothing is said of `identity`; not when that is named as the better one (RFC 9110 section 12.5.3). */
export function acceptsGzip({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const header = headers['accept-encoding'];
  if (typeof header !== 'string' || !header.includes('gzip')) return false;
  let gzip = 0;
  let identity = 0;
  for (const one of header.split(',', MAX_CODINGS)) {
    const [coding = '', ...parameters] = one.split(';', MAX_PARTS).map((part) => part.trim().toLowerCase());
    if (coding === 'gzip') gzip = Math.max(gzip, quality(parameters));
    else if (coding === 'identity') identity = quality(parameters);
  }
  return gzip > 0 && gzip >= identity;
}

function quality(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [, value] = /^q=([01](?:\.\d*)?)$/.exec(parameter) ?? [];
    if (value !== undefined) return Number(value);
  }
  return 1;
}

// Entity tags in requests: whether the client has already what it asks for.

/** More tags than any client keeps of one answer; those behind them do not count. */
const MAX_TAGS = 256;

/** RFC 9110, 13.1.2: a list of tags, weak ones compared like strong ones, or `*`. `tag` is quoted, without `W/`. */
export function holdsTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',', MAX_TAGS).some((one) => {
    const candidate = one.trim().replace(/^W\//, '');
    return candidate === '*' || candidate === tag;
  });
}
