// Writes list response bodies item by item, or from the compressed JSON that a snapshot caches.
import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { constants, crc32, createGzip, deflateRawSync } from 'node:zlib';
import type { ListMeta } from '../../apis/meta/v1/table.ts';
import type { CachedObject, SnapshotPiece } from '../cache/resource-cache.ts';
import {
  acceptsGzip,
  type BodyHeaders,
  GZIP_THRESHOLD,
  joined,
  PIECE,
  writeBody,
} from '../http/response-writer.ts';
import { crc32Combine } from '../memory/crc32-combine.ts';
import type { RequestContext } from '../request/request-context.ts';
import { Indenter } from './indenter.ts';
import { framed, type ListFrame, type Representation } from './representation.ts';

/** Adds `Vary` as kube-apiserver does, unless `headers` has it. */
function gzipHeaders(headers: BodyHeaders, response: ServerResponse): BodyHeaders {
  const other = response.getHeader('Vary');
  const vary = typeof other === 'string' ? `Accept-Encoding, ${other}` : 'Accept-Encoding';
  return { Vary: vary, ...headers, 'Content-Encoding': 'gzip' };
}

function* indented(parts: Iterable<Buffer>): Generator<Buffer> {
  const indenter = new Indenter();
  for (const part of parts) yield indenter.write(part);
}

function* prepended(first: Buffer, rest: Iterable<Buffer>): Generator<Buffer> {
  yield first;
  yield* rest;
}

/** Compresses a body; starts at the first read. */
export async function* compressed(body: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // An error or a disconnect destroys both streams, and writeBody handles it.
  yield* pipeline(Readable.from(body), createGzip({ level: 1 }), () => undefined);
}

export async function writeItems<Facts>(
  context: RequestContext,
  {
    representation,
    pretty,
    headers,
  }: {
    readonly representation: Representation<Facts>;
    readonly pretty: boolean;
    readonly headers: BodyHeaders;
  },
  meta: ListMeta,
  objects: readonly CachedObject<Facts>[],
): Promise<void> {
  const { request, response, signal } = context;
  const parts = framed(representation.list(meta, objects.length), objects, (object) => [
    representation.item(object),
  ]);
  const chunks = joined(pretty ? indented(parts) : parts);
  const first = chunks.next().value ?? Buffer.alloc(0);
  if (first.length <= GZIP_THRESHOLD) {
    response.writeHead(200, { ...headers, 'Content-Length': first.length });
    response.end(first);
    return;
  }
  const body = prepended(first, chunks);
  if (!acceptsGzip(request)) {
    response.writeHead(200, { ...headers });
    return writeBody(response, body, signal);
  }
  response.writeHead(200, gzipHeaders(headers, response));
  return writeBody(response, compressed(body), signal);
}

const COMMA = Buffer.from(',');
const COMMA_CHECKSUM = crc32(COMMA);
const SYNC_FLUSHED_COMMA = deflateRawSync(COMMA, { finishFlush: constants.Z_SYNC_FLUSH });
/** Gzip header (RFC 1952): magic, deflate, no flags, no time, no extra flags, unknown operating system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** Number of chunks that are compressed in parallel, one for each thread of libuv's pool. */
const AHEAD = 4;

/**
 * Starts the compression of a piece. Handles its rejection, because the promise is not awaited if the client
 * disconnects.
 */
function startDeflate(piece: SnapshotPiece): Promise<Buffer> {
  const deflated = piece.deflated();
  deflated.catch(() => undefined);
  return deflated;
}

interface StartedPiece {
  readonly piece: SnapshotPiece;
  readonly deflated: Promise<Buffer>;
}

/**
 * Builds a gzip stream from raw deflate chunks, which are sync-flushed to byte boundaries. A chunk does not reference
 * other chunks, so chunks can be cached and combined in any order. The checksum is computed over all chunks.
 */
async function* gzipped(frame: ListFrame, pieces: readonly SnapshotPiece[]): AsyncGenerator<Buffer> {
  let checksum = crc32(frame.start);
  let size = frame.start.length;
  const count = (length: number, part: number): void => {
    checksum = crc32Combine(checksum, part, length);
    size += length;
  };
  const start = deflateRawSync(frame.start, { finishFlush: constants.Z_SYNC_FLUSH });
  let waiting: Buffer[] = [GZIP_HEADER, start];
  let length = GZIP_HEADER.length + start.length;
  const rest = pieces[Symbol.iterator]();
  const ahead: StartedPiece[] = [];
  const startNext = (): void => {
    const { done, value } = rest.next();
    if (!done) ahead.push({ piece: value, deflated: startDeflate(value) });
  };
  for (let i = 0; i < AHEAD; i++) startNext();
  let isFirst = true;
  for (let current = ahead.shift(); current; current = ahead.shift()) {
    if (!isFirst) {
      count(COMMA.length, COMMA_CHECKSUM);
      waiting.push(SYNC_FLUSHED_COMMA);
    }
    isFirst = false;
    startNext();
    const { piece, deflated } = current;
    const bytes = await deflated;
    count(piece.length(), piece.checksum());
    waiting.push(bytes);
    length += bytes.length;
    // Small chunks are joined, because a write costs more than a copy.
    if (length < PIECE) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    length = 0;
  }
  count(frame.end.length, crc32(frame.end));
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(checksum, 0);
  trailer.writeUInt32LE(size % 2 ** 32, 4);
  yield Buffer.concat([...waiting, deflateRawSync(frame.end), trailer]);
}

function lengthOf(frame: ListFrame, pieces: readonly SnapshotPiece[]): number {
  let length = frame.start.length + frame.end.length + Math.max(0, pieces.length - 1);
  for (const piece of pieces) length += piece.length();
  return length;
}

export function writePieces(
  { request, response, signal }: RequestContext,
  frame: ListFrame,
  pieces: readonly SnapshotPiece[],
  headers: BodyHeaders,
): Promise<void> {
  const length = lengthOf(frame, pieces);
  if (length > GZIP_THRESHOLD && acceptsGzip(request)) {
    response.writeHead(200, gzipHeaders(headers, response));
    return writeBody(response, gzipped(frame, pieces), signal);
  }
  response.writeHead(200, { ...headers, 'Content-Length': length });
  return writeBody(
    response,
    framed(frame, pieces, (piece) => [piece.json()]),
    signal,
  );
}
