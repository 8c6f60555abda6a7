// Lines of one log, in order, as packed bytes: a fraction of their size, and no burden for the garbage collector. What
// a round of an export holds consists of these.
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { release } from '../../../../memory/released.ts';
import type { Instant, Order } from '../../../log-store.ts';
import { compareLines, keptPlace, type Place, type RankedLine } from '../reading/ranked-line.ts';

export interface LineBlock {
  readonly first: Place;
  readonly last: Place;
  readonly count: number;
  readonly bytes: Buffer;
  /** Of the bytes when they are unpacked; undefined when they are not packed. */
  readonly packedFrom: number | undefined;
}

/** Below it, packing costs more than it saves. */
const MIN_PACKED = 4 << 10;
const FASTEST = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Of a block, besides its bytes. */
const OVERHEAD = 400;
/** Before each line: how many bytes follow, and its ordinal. */
const HEAD = 8;
const TIME_LENGTH = 30;

export function costOfBlock({ bytes }: LineBlock): number {
  return bytes.length + OVERHEAD;
}

/** Gathers lines until a block is full. */
export class BlockWriter {
  readonly #rank: number;
  readonly #buffer: Buffer;
  #length = 0;
  #count = 0;
  #first: Place | undefined;
  #lastTime: Instant = '';
  #lastOrdinal = 0;
  #isSorted = true;

  /** `size`: bytes of a block before it is packed. */
  constructor(rank: number, size: number) {
    this.#rank = rank;
    this.#buffer = Buffer.allocUnsafeSlow(size);
  }

  get capacity(): number {
    return this.#buffer.length;
  }

  /** False when it does not fit any more. */
  add(time: Instant, ordinal: number, text: string): boolean {
    const written = time + text;
    const start = this.#length + HEAD;
    if (!fits(written, this.#buffer.length - start)) return false;
    const bytes = this.#buffer.write(written, start);
    writeHead(this.#buffer, this.#length, bytes, ordinal);
    this.#length = start + bytes;
    this.#count++;
    this.#first ??= keptPlace({ time, rank: this.#rank, ordinal });
    if (time < this.#lastTime || (time === this.#lastTime && ordinal < this.#lastOrdinal))
      this.#isSorted = false;
    this.#lastTime = time;
    this.#lastOrdinal = ordinal;
    return true;
  }

  /** Releases the text that the last line is a slice of. */
  settle(): void {
    this.#lastTime = this.#last.time;
  }

  /** Discards everything. */
  drop(): void {
    release(this.#buffer);
  }

  /** The lines that have come, in order; undefined when there are none. Nothing can be added any more. */
  seal(): LineBlock | undefined {
    if (!this.#first) return undefined;
    const written = { bytes: this.#buffer.subarray(0, this.#length), first: this.#first, last: this.#last };
    const { bytes, first, last } = this.#isSorted ? written : sorted(written, this.#count);
    const packedFrom = bytes.length >= MIN_PACKED ? bytes.length : undefined;
    const kept = packedFrom ? packed(bytes) : exactly(bytes);
    release(this.#buffer);
    // A writer in the old generation would keep what it refers to alive until it is collected itself.
    this.#lastTime = '';
    return { first, last, count: this.#count, bytes: kept, packedFrom };
  }

  get #last(): Place {
    return keptPlace({ time: this.#lastTime, rank: this.#rank, ordinal: this.#lastOrdinal });
  }
}

/** Bytes that a block has to have for this line. */
export function sizeOfLine(time: Instant, text: string): number {
  return HEAD + Buffer.byteLength(time) + Buffer.byteLength(text);
}

/** The lines of a block, one at a time. The block is no more. */
export class BlockReader {
  readonly #rank: number;
  readonly #order: Order;
  readonly #buffer: Buffer;
  readonly #length: number;
  /** Where lines begin, when they are not taken as they stand. */
  readonly #starts: Uint32Array | undefined;
  #at = 0;

  constructor({ bytes, packedFrom, first, count }: LineBlock, order: Order) {
    this.#rank = first.rank;
    this.#order = order;
    this.#buffer = packedFrom ? unpacked(bytes, packedFrom) : bytes;
    this.#length = this.#buffer.length;
    if (order === 'desc') {
      this.#starts = startsOf(this.#buffer, count);
      this.#at = count;
    }
  }

  /** Undefined behind the last one, and then forever. */
  next(): RankedLine | undefined {
    const start = this.#order === 'asc' ? this.#at : this.#starts?.[--this.#at];
    if (start === undefined || start >= this.#length) {
      this.end();
      return undefined;
    }
    if (this.#order === 'asc') this.#at = endOf(this.#buffer, start);
    return lineAt(this.#buffer, start, this.#rank);
  }

  /** Nothing more is taken. */
  end(): void {
    release(this.#buffer);
  }
}

function fits(text: string, room: number): boolean {
  // At most three bytes for a code unit: mostly nothing needs to be counted.
  return text.length * 3 <= room || Buffer.byteLength(text) <= room;
}

function writeHead(buffer: Buffer, at: number, bytes: number, ordinal: number): void {
  buffer.writeUInt32LE(bytes, at);
  buffer.writeUInt32LE(ordinal, at + 4);
}

function endOf(buffer: Buffer, start: number): number {
  return start + HEAD + buffer.readUInt32LE(start);
}

function startsOf(buffer: Buffer, count: number): Uint32Array {
  const starts = new Uint32Array(count);
  for (let index = 0, start = 0; index < count; index++, start = endOf(buffer, start)) starts[index] = start;
  return starts;
}

function lineAt(buffer: Buffer, start: number, rank: number): RankedLine {
  const written = buffer.toString('utf8', start + HEAD, endOf(buffer, start));
  const ordinal = buffer.readUInt32LE(start + 4);
  return { time: written.slice(0, TIME_LENGTH), rank, ordinal, text: written.slice(TIME_LENGTH) };
}

/** Times may be off by what lies between taking them and writing. */
function sorted({ bytes, first: { rank } }: Pick<LineBlock, 'bytes' | 'first'>, count: number): Written {
  const lines = Array.from(startsOf(bytes, count), (start) => ({ start, ...lineAt(bytes, start, rank) }));
  lines.sort(compareLines);
  const [first, last] = [lines[0], lines.at(-1)];
  if (!first || !last) throw new RangeError('a block without lines');
  const pieces = lines.map(({ start }) => bytes.subarray(start, endOf(bytes, start)));
  return { bytes: Buffer.concat(pieces), first: keptPlace(first), last: keptPlace(last) };
}

type Written = Pick<LineBlock, 'bytes' | 'first' | 'last'>;

function packed(bytes: Buffer): Buffer {
  const result = zstdCompressSync(bytes, { params: FASTEST, chunkSize: unpooled(bytes.length >> 1) });
  const kept = exactly(result);
  release(result);
  return kept;
}

function unpacked(bytes: Buffer, length: number): Buffer {
  // One byte more than there are, or the library would allocate another piece.
  const result = zstdDecompressSync(bytes, { chunkSize: unpooled(length + 1) });
  release(bytes);
  return result;
}

/** At least so many bytes, and enough for a buffer of its own. */
function unpooled(size: number): number {
  return Math.max(size, Buffer.poolSize >>> 1);
}

function exactly(bytes: Buffer): Buffer {
  const kept = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(kept);
  return kept;
}
