// Functions that write HTTP responses with compression, entity tags (ETag) and backpressure.
import type { IncomingMessage, ServerResponse } from 'node:http';

export const JSON_HEADERS = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-cache, private',
  Vary: 'Accept, Accept-Encoding, Origin',
} as const;

/** Headers of a response body. */
export type BodyHeaders = Readonly<Record<string, string>>;

/** Number of queued bytes of a socket above which the write loop pauses. */
export const HIGH_WATER = 1024 * 1024;
/** Number of queued bytes of all responses. With more than 32 responses, the limit of each is its share of this. */
const ALL_WAITING = 32 * HIGH_WATER;

/** Number of bodies being written. */
let open = 0;

/** Number of bytes per write. It is small, because TLS encrypts a complete write even if the client reads slowly. */
export const PIECE = 64 * 1024;

/** Splits a complete body into chunks of PIECE bytes. */
export function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE) yield bytes.subarray(start, start + PIECE);
}

/** Joins pieces into chunks of more than GZIP_THRESHOLD bytes. If the first chunk is smaller, it is the whole body. */
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

/** Resolves when the queue is empty, or when the connection or the request ends. */
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
 * Writes all chunks with backpressure and ends the response. `highWater`: number of queued bytes of the socket above
 * which the loop pauses. If the body cannot be completed, the connection is destroyed, so that the client detects it.
 */
export async function writeBody(
  response: ServerResponse,
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
  signal: AbortSignal,
  highWater = HIGH_WATER,
): Promise<void> {
  // A response to HEAD has no body.
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

/** Minimum size in bytes of a body that is compressed, as in kube-apiserver. */
export const GZIP_THRESHOLD = 128 * 1024;

/** Maximum number of codings and parameters of Accept-Encoding; further ones are ignored. */
const MAX_CODINGS = 64;
const MAX_PARTS = 16;

/**
 * Returns true if the client prefers gzip to identity (RFC 9110, section 12.5.3). A client that accepts gzip and sends
 * no quality for identity prefers gzip.
 */
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

/** Maximum number of tags of If-None-Match; further ones are ignored. */
const MAX_TAGS = 256;

/**
 * Returns true if If-None-Match is `*` or contains the tag (RFC 9110, section 13.1.2). Tags are compared weakly. `tag`:
 * quoted, without `W/`.
 */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',', MAX_TAGS).some((one) => {
    const candidate = one.trim().replace(/^W\//, '');
    return candidate === '*' || candidate === tag;
  });
}
