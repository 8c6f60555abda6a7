// Lines of one log, in order, as packed bytes: a fraction of their size, and no burden for the garbage collector. What
// a round of an export holds consists of these.
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Instant, Order } from '../../../log-store.ts';
import { compareLines, keptPlace, type Place, type RankedLine } from '../reading/ranked-line.ts';

export interface LineBlock {
  readonly first: Place;
  readonly last: Place;
  readonly bytes: Buffer;
  /** Of the bytes when they are unpacked; undefined when they are not packed. */
  readonly packedFrom: number | undefined;
}

/** Below it, packing costs more than it saves. */
const MIN_PACKED = 4 << 10;
const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 }, chunkSize: 8 << 10 };
/** Of a block, besides its bytes. */
const OVERHEAD = 400;
const TIME_LENGTH = 30;

export function costOfBlock({ bytes }: LineBlock): number {
  return bytes.length + OVERHEAD;
}

/** Gathers lines until a block is full. */
export class BlockWriter {
  readonly #rank: number;
  readonly #buffer: Buffer;
  #length = 0;
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
    const line = written(time, ordinal, text);
    if (!this.#fits(line)) return false;
    this.#length += this.#buffer.write(line, this.#length);
    this.#first ??= { time, rank: this.#rank, ordinal };
    if (time < this.#lastTime || (time === this.#lastTime && ordinal < this.#lastOrdinal))
      this.#isSorted = false;
    this.#lastTime = time;
    this.#lastOrdinal = ordinal;
    return true;
  }

  /** The lines that have come, in order; undefined when there are none. */
  seal(): LineBlock | undefined {
    if (!this.#first) return undefined;
    const rank = this.#rank;
    const last = { time: this.#lastTime, rank, ordinal: this.#lastOrdinal };
    const written = this.#buffer.subarray(0, this.#length);
    const sorted = this.#isSorted ? { bytes: written, first: this.#first, last } : sort(written, rank);
    const packedFrom = sorted.bytes.length >= MIN_PACKED ? sorted.bytes.length : undefined;
    const bytes = exactly(packedFrom ? zstdCompressSync(sorted.bytes, FASTEST) : sorted.bytes);
    return { first: keptPlace(sorted.first), last: keptPlace(sorted.last), bytes, packedFrom };
  }

  #fits(line: string): boolean {
    const room = this.#buffer.length - this.#length;
    // At most three bytes for a code unit: mostly nothing needs to be counted.
    return line.length * 3 <= room || Buffer.byteLength(line) <= room;
  }
}

/** Bytes that a block has to have for this line. */
export function sizeOfLine(time: Instant, ordinal: number, text: string): number {
  return Buffer.byteLength(written(time, ordinal, text));
}

/** The lines of a block. */
export function readBlock({ bytes, packedFrom, first }: LineBlock, order: Order): Iterator<RankedLine> {
  const unpacked = packedFrom ? zstdDecompressSync(bytes, { chunkSize: packedFrom }) : bytes;
  return linesOf(unpacked.toString('utf8'), first.rank, order);
}

function written(time: Instant, ordinal: number, text: string): string {
  return `${time}${ordinal} ${text}\n`;
}

function* linesOf(block: string, rank: number, order: Order): Generator<RankedLine, void, undefined> {
  if (order === 'asc') {
    for (let from = 0, to = 0; from < block.length; from = to + 1) {
      to = block.indexOf('\n', from);
      yield lineAt(block, from, to, rank);
    }
    return;
  }
  for (let to = block.length - 1; to >= 0; ) {
    // A place before the beginning would count as the beginning.
    const before = to === 0 ? -1 : block.lastIndexOf('\n', to - 1);
    yield lineAt(block, before + 1, to, rank);
    to = before;
  }
}

function lineAt(block: string, from: number, to: number, rank: number): RankedLine {
  const ordinalStart = from + TIME_LENGTH;
  const space = block.indexOf(' ', ordinalStart);
  const ordinal = Number(block.slice(ordinalStart, space));
  return { time: block.slice(from, ordinalStart), rank, ordinal, text: block.slice(space + 1, to) };
}

/** Times may be off by what lies between taking them and writing. */
function sort(bytes: Buffer, rank: number): Pick<LineBlock, 'bytes' | 'first' | 'last'> {
  const lines = [...linesOf(bytes.toString('utf8'), rank, 'asc')].sort(compareLines);
  const [first, last] = [lines[0], lines.at(-1)];
  if (!first || !last) throw new RangeError('a block without lines');
  const sorted = lines.map(({ time, ordinal, text }) => written(time, ordinal, text)).join('');
  return { bytes: Buffer.from(sorted), first, last };
}

/** What packs, and what pools, gives a piece of something larger. */
function exactly(bytes: Buffer): Buffer {
  const kept = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(kept);
  return kept;
}
