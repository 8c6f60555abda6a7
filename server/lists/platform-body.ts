// Response bodies of lists under `/kapis`. The compressed chunks of long lists are cached.

import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import type { LRUCache } from 'lru-cache';
import type { CachedObject, SnapshotPiece } from '../cache/resource-cache.ts';
import type { TimeSlices } from '../concurrency/time-slicer.ts';
import { acceptsGzip, GZIP_THRESHOLD, joined, writeBody } from '../http/response-writer.ts';
import type { RequestContext } from '../request/request-context.ts';
import { gzipped } from '../rest/list-body.ts';
import { framed, type ListFrame } from '../rest/representation.ts';
import type { PlatformItem } from './platform-item.ts';

export type Headers = Readonly<Record<string, string | number>>;

interface Encoding<Facts> {
  /** Receives the body of a short page. */
  readonly keep: (body: Buffer) => void;
  readonly item: PlatformItem<Facts>;
  readonly pieces: () => Iterable<SnapshotPiece>;
  readonly slices: TimeSlices;
}

/** Writes status 200 and the body. */
export function writeObjects<Facts>(
  context: RequestContext,
  headers: Headers,
  frame: ListFrame,
  objects: readonly CachedObject<Facts>[],
  { keep, item, pieces, slices }: Encoding<Facts>,
): Promise<void> | void {
  const parts = framed(frame, objects, (object) => item.parts(object));
  if (isShort(objects)) {
    const body = Buffer.concat([...parts]);
    keep(body);
    writeBytes(context, headers, body);
    return;
  }
  const { request, response, signal } = context;
  const gzip = acceptsGzip(request);
  response.writeHead(200, gzip ? { ...headers, 'Content-Encoding': 'gzip' } : headers);
  return writeBody(response, sliced(gzip ? gzipped(frame, pieces()) : joined(parts), slices), signal);
}

/** Returns true if the body of a page is written, and cached, as a whole. */
export function isShort(objects: readonly CachedObject<unknown>[]): boolean {
  return objects.reduce((sum, { length }) => sum + length, 0) <= GZIP_THRESHOLD;
}

/** Writes status 200 and a body that is in memory. */
export function writeBytes(
  { response }: Pick<RequestContext, 'response'>,
  headers: Headers,
  body: Buffer,
): void {
  response.writeHead(200, { ...headers, 'Content-Length': body.length });
  response.end(body);
}

/** Yields to the event loop between chunks, because compressed objects take time to decompress. */
export async function* sliced(
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
  slices: TimeSlices,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk;
    if (slices.spent) await slices.next();
  }
}

const compress = promisify(deflateRaw);
const COMMA = Buffer.from(',');

/** Average number of objects in a chunk. */
const USUAL_OBJECTS = 32;
const MOST_OBJECTS = 96;
/** Maximum size of a chunk of several objects, because a chunk is decompressed in one go. */
const MOST_BYTES = 512 << 10;

/**
 * Content-defined chunks of a long list, with a cache of their compressed bytes. A hash of the object's key, not
 * its position, determines where a chunk starts. So a new or changed object affects only its chunk, in every sort
 * order.
 */
export class PlatformPieces<Facts> {
  readonly #item: PlatformItem<Facts>;
  /** Contains compressed chunks by a hash of their content. */
  readonly #bodies: LRUCache<string, Buffer>;
  /** Of the JSON of compressed chunks. */
  readonly #measures = new WeakMap<Buffer, Measure>();

  constructor(item: PlatformItem<Facts>, bodies: LRUCache<string, Buffer>) {
    this.#item = item;
    this.#bodies = bodies;
  }

  *of(objects: readonly CachedObject<Facts>[], slices: TimeSlices): Generator<SnapshotPiece> {
    let piece: CachedObject<Facts>[] = [];
    let size = 0;
    for (const object of objects) {
      const isFull = piece.length >= MOST_OBJECTS || size + object.length > MOST_BYTES;
      if (piece.length > 0 && (isFull || beginsPiece(object))) {
        yield this.#piece(piece, slices);
        piece = [];
        size = 0;
      }
      piece.push(object);
      size += object.length;
    }
    if (piece.length > 0) yield this.#piece(piece, slices);
  }

  #piece(objects: readonly CachedObject<Facts>[], slices: TimeSlices): SnapshotPiece {
    const json = (): Buffer =>
      Buffer.concat(
        objects.flatMap((object, index) => [...(index > 0 ? [COMMA] : []), ...this.#item.parts(object)]),
      );
    let made: Buffer | undefined;
    const measure = (): Measure => (made && this.#measures.get(made)) ?? measureOf(json());
    return {
      json,
      length: () => measure().length,
      checksum: () => measure().checksum,
      deflated: async () => {
        made = await this.#deflated(this.#key(objects), json, slices);
        return made;
      },
    };
  }

  #key(objects: readonly CachedObject<Facts>[]): string {
    const states = objects.map((object) => `${object.key} ${this.#item.state(object)}`);
    // An event belongs to two kinds, and has another selfLink in each.
    return hash('sha256', `${this.#item.resource} ${states.join()}`, 'base64');
  }

  async #deflated(key: string, json: () => Buffer, slices: TimeSlices): Promise<Buffer> {
    const known = this.#bodies.get(key);
    if (known) return known;
    // The compression of several chunks starts at once.
    if (slices.spent) await slices.next();
    const text = json();
    const made = await compress(text, { finishFlush: constants.Z_SYNC_FLUSH });
    this.#measures.set(made, measureOf(text));
    this.#bodies.set(key, made);
    return made;
  }
}

interface Measure {
  readonly length: number;
  readonly checksum: number;
}

function measureOf(bytes: Buffer): Measure {
  return { length: bytes.length, checksum: crc32(bytes) };
}

function beginsPiece({ key }: CachedObject<unknown>): boolean {
  return crc32(key) % USUAL_OBJECTS === 0;
}
