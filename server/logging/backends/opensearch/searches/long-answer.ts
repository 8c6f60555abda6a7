import { release } from '../../../../memory/released.ts';

/** Of an answer; the end is exclusive. */
export interface ByteRange {
  readonly begin: number;
  readonly end: number;
}

/** Bytes of a part. A text of more is one of the large objects of the heap, which live long. */
const PART = 40 << 10;
const HITS = '"hits":[{';
/** Begins the last member of a hit. No string of JSON can hold such a text: quotes are escaped in there. */
const SORT = '"sort":[';
const BRACKET = 0x5d;
const BRACE = 0x7d;
const COMMA = 0x2c;

/**
 * An answer with many hits that is read in parts, each as an answer of its own with some of the hits: so only these few
 * are objects of the heap, and the others wait as bytes.
 */
export class LongAnswer {
  readonly #bytes: Buffer<ArrayBuffer>;
  readonly #hits: ByteRange;
  /** Where the hits are that are read together, in order; one part when they cannot be told apart. */
  readonly parts: readonly ByteRange[];
  /** How many hits there are; undefined when they cannot be told apart. */
  readonly count: number | undefined;

  /** `bytes`: nobody else uses their memory. */
  constructor(bytes: Buffer<ArrayBuffer>) {
    const found = bytes.indexOf(HITS);
    const begin = found + HITS.length - 1;
    const ends = found === -1 ? [] : endsOfHits(bytes, begin);
    const end = ends.at(-1);
    const isWhole = end === undefined || bytes[end] !== BRACKET;
    this.#bytes = bytes;
    this.#hits = isWhole ? { begin: 0, end: bytes.length } : { begin, end };
    this.parts = isWhole ? [this.#hits] : partsOf(this.#hits, ends);
    this.count = isWhole ? undefined : ends.length;
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** Gives the bytes back at once: there would be many answers until the next collection of garbage. */
  free(): void {
    release(this.#bytes);
  }

  /** JSON of the answer with these hits alone. */
  text({ begin, end }: ByteRange): string {
    const [head, tail] = [this.#bytes.subarray(0, this.#hits.begin), this.#bytes.subarray(this.#hits.end)];
    const whole = Buffer.concat([head, this.#bytes.subarray(begin, end), tail]);
    try {
      return whole.toString('utf8');
    } finally {
      release(whole);
    }
  }
}

/**
 * The pieces of an answer in memory that is nobody else's. The pieces are gone then: each is a part of what was read from
 * the socket at a time, which nobody looks at any more, and megabytes of them would wait for the next collection of garbage.
 */
export function ownBytes(pieces: readonly Buffer[]): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const piece of pieces) end += piece.copy(bytes, end);
  for (const piece of pieces) release(piece);
  return bytes;
}

/** Behind each hit. */
function endsOfHits(bytes: Buffer, begin: number): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(SORT, begin); at !== -1; at = bytes.indexOf(SORT, at + 1)) {
    const end = bytes.indexOf(BRACKET, at + SORT.length) + 2;
    if (bytes[end - 1] !== BRACE) return [];
    ends.push(end);
    if (bytes[end] === BRACKET) break;
    if (bytes[end] !== COMMA) return [];
  }
  return ends;
}

function partsOf(hits: ByteRange, ends: readonly number[]): ByteRange[] {
  const parts: ByteRange[] = [];
  let { begin } = hits;
  for (const end of ends) {
    if (end - begin < PART && end !== hits.end) continue;
    parts.push({ begin, end });
    // Behind the comma.
    begin = end + 1;
  }
  return parts;
}
