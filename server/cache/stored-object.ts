// Cached objects as slices of shared buffers (frames). A frame holds the JSON of neighbouring objects, plain or
// compressed.

import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { copyOf, ownBytes } from '../memory/own-bytes.ts';
import { type ObjectExtent, type SplicedObject, writeSpliced } from './object-splice.ts';
import type { CachedObject, ObjectIdentity } from './resource-cache.ts';

/** An immutable buffer with one or more objects. */
export interface Frame {
  /** Memory of the frame, in bytes. */
  readonly size: number;
  /** True if the frame is compressed, so that its buffer is in memory only for a short time. */
  readonly packed: boolean;
  /** Length of the buffer in bytes. */
  readonly length: number;
  /** CRC-32 of the buffer. */
  readonly checksum: number;
  /** Returns the buffer. A packed frame is decompressed if it was not opened recently. */
  open(): Buffer;
}

class PlainFrame implements Frame {
  readonly packed = false;
  readonly #bytes: Buffer;
  #checksum: number | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get length(): number {
    return this.#bytes.length;
  }

  get checksum(): number {
    this.#checksum ??= crc32(this.#bytes);
    return this.#checksum;
  }

  get size(): number {
    return this.#bytes.length;
  }

  open(): Buffer {
    return this.#bytes;
  }
}

/** Creates frames for the chunks of a snapshot. */
export interface FrameFactory {
  /** Number of objects in a new frame. */
  readonly objects: number;
  /** Size of the objects in a new frame above which no further object is added. */
  readonly bytes: number;
  /** `bytes`: overwritten by the caller afterwards. */
  frame(bytes: Buffer): Frame;
}

export const PLAIN_FRAMES: FrameFactory = {
  objects: 32,
  bytes: 512 << 10,
  frame: (bytes) => new PlainFrame(copyOf(bytes)),
};

/** Fast, and for JSON nearly as small as the higher levels. */
const LEVEL = 1;
/** Memory of a cached buffer besides its bytes. */
const BUFFER_BYTES = 512;

/**
 * Creates compressed frames, and caches the buffers of those that were opened most recently. A frame is stored as
 * sync-flushed raw deflate, the form in which lists are sent to clients that accept gzip.
 */
export class PackedFrames implements FrameFactory {
  /**
   * Fewer than in plain frames, because a page of a sorted list decompresses a frame for each object. Half as many as
   * 16 halve that time, and 25,000 pods take 1.6 MB more.
   */
  readonly objects = 8;
  readonly bytes = 128 << 10;
  readonly #open: LRUCache<PackedFrame, Buffer>;

  /**
   * `maxBytes`: maximum total size of the cached buffers. It is small, because V8 collects buffers that survive for long
   * with pauses of tens of milliseconds, and pages are cached by themselves.
   */
  constructor(maxBytes = 8 << 20) {
    this.#open = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ length }) => length + BUFFER_BYTES,
    });
  }

  /** Memory of the cached buffers, in bytes. */
  get openBytes(): number {
    return this.#open.calculatedSize;
  }

  frame(bytes: Buffer): PackedFrame {
    const deflated = deflateRawSync(bytes, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH });
    return new PackedFrame(ownBytes(deflated), bytes.length, crc32(bytes), this);
  }

  open(frame: PackedFrame): Buffer {
    const known = this.#open.get(frame);
    if (known) return known;
    // One buffer for all output: three times as fast as the default, which concatenates buffers of 16 KiB.
    const chunkSize = Math.max(constants.Z_MIN_CHUNK, frame.length + 1);
    const inflated = inflateRawSync(frame.deflated, { finishFlush: constants.Z_SYNC_FLUSH, chunkSize });
    const bytes = ownBytes(inflated);
    this.#open.set(frame, bytes);
    return bytes;
  }
}

export class PackedFrame implements Frame {
  readonly packed = true;
  /** The bytes as sync-flushed raw deflate. */
  readonly deflated: Buffer;
  /** Length of the decompressed bytes. */
  readonly length: number;
  /** CRC-32 of the decompressed bytes. */
  readonly checksum: number;
  readonly #frames: PackedFrames;

  constructor(deflated: Buffer, length: number, checksum: number, frames: PackedFrames) {
    this.deflated = deflated;
    this.length = length;
    this.checksum = checksum;
    this.#frames = frames;
  }

  get size(): number {
    return this.deflated.length;
  }

  open(): Buffer {
    return this.#frames.open(this);
  }
}

/** A cached object: its identity, and its place in a frame. */
export class StoredObject<Facts> implements CachedObject<Facts> {
  readonly identity: ObjectIdentity<Facts>;
  readonly frame: Frame;
  readonly length: number;
  readonly #at: number;
  readonly #metadataStart: number;
  readonly #metadataEnd: number;

  /** `at`: offset of the object in the frame. */
  constructor(identity: ObjectIdentity<Facts>, frame: Frame, at: number, extent: ObjectExtent) {
    this.identity = identity;
    this.frame = frame;
    this.#at = at;
    this.length = extent.length;
    this.#metadataStart = extent.metadataStart;
    this.#metadataEnd = extent.metadataEnd;
  }

  get key(): string {
    return this.identity.key;
  }

  get name(): string {
    return this.identity.name;
  }

  get namespace(): string {
    return this.identity.namespace;
  }

  get uid(): string {
    return this.identity.uid;
  }

  get resourceVersion(): string {
    return this.identity.resourceVersion;
  }

  get checksum(): number {
    return this.identity.checksum;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.identity.labels;
  }

  get facts(): Facts {
    return this.identity.facts;
  }

  get size(): number {
    return this.identity.size;
  }

  get bytes(): Buffer {
    return this.frame.open().subarray(this.#at, this.#at + this.length);
  }

  get metadata(): Buffer {
    return this.frame.open().subarray(this.#at + this.#metadataStart, this.#at + this.#metadataEnd);
  }

  /** Returns the same object in another frame that contains its bytes at `at`. */
  in(frame: Frame, at: number): StoredObject<Facts> {
    const [metadataStart, metadataEnd] = [this.#metadataStart, this.#metadataEnd];
    return new StoredObject(this.identity, frame, at, { length: this.length, metadataStart, metadataEnd });
  }

  /** Returns the object outside of the shared frame of its chunk, so that it does not keep a plain frame in memory. */
  detached(): StoredObject<Facts> {
    const slack = 256;
    if (this.frame.packed || this.frame.size <= this.length + slack) return this;
    return this.in(new PlainFrame(ownBytes(this.bytes)), 0);
  }
}

/** Returns an object in a frame of its own. */
export function storedAlone<Facts>({
  identity,
  spliced,
}: {
  readonly identity: ObjectIdentity<Facts>;
  readonly spliced: SplicedObject;
}): StoredObject<Facts> {
  const frame = Buffer.allocUnsafeSlow(spliced.length);
  writeSpliced(spliced, frame, 0);
  return new StoredObject(identity, new PlainFrame(frame), 0, spliced);
}
