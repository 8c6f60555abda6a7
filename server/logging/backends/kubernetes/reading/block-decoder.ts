// Decodes a stream of chunks in blocks of whole lines, which is much cheaper than line by line. Long lines are truncated.
import type { MemoryShare } from './memory-budget.ts';

const NEWLINE = 0x0a;

export class BlockDecoder {
  readonly #maxLineBytes: number;
  readonly #memory: Pick<MemoryShare, 'room' | 'add'> | undefined;
  #pending: Buffer[] = [];
  #pendingLength = 0;
  #skipping = false;
  /** Whether a line was truncated. */
  truncated = false;

  /** `memory` accounts for an incomplete line, which is truncated earlier when the room is used up. */
  constructor(maxLineBytes: number, memory?: Pick<MemoryShare, 'room' | 'add'>) {
    this.#maxLineBytes = maxLineBytes;
    this.#memory = memory;
  }

  /** The lines that are complete now, each with its newline. Does not keep the chunk. */
  push(chunk: Buffer): string {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      this.#keep(chunk);
      return '';
    }
    let block: string;
    if (this.#skipping) block = this.#take() + chunk.toString('utf8', chunk.indexOf(NEWLINE), end);
    else if (this.#pendingLength > 0) block = this.#take(chunk.subarray(0, end));
    else block = chunk.toString('utf8', 0, end);
    if (end < chunk.length) this.#keep(chunk.subarray(end));
    return block;
  }

  /** The incomplete line behind the last newline. */
  rest(): string {
    return this.#take();
  }

  #keep(chunk: Buffer): void {
    if (this.#skipping) return;
    const kept = Buffer.allocUnsafeSlow(chunk.length);
    chunk.copy(kept);
    this.#pending.push(kept);
    this.#setLength(this.#pendingLength + chunk.length);
    const max = Math.min(this.#maxLineBytes, Math.floor(this.#memory?.room ?? this.#maxLineBytes));
    if (this.#pendingLength <= max) return;
    this.#pending = [Buffer.concat(this.#pending, max)];
    this.#setLength(max);
    this.#skipping = true;
    this.truncated = true;
  }

  #take(...tail: Buffer[]): string {
    const text = Buffer.concat([...this.#pending, ...tail]).toString('utf8');
    this.#pending = [];
    this.#setLength(0);
    const wasTruncated = this.#skipping;
    this.#skipping = false;
    // The truncation may have split a character.
    return wasTruncated ? text.replace(/\uFFFD$/, '') : text;
  }

  #setLength(length: number): void {
    this.#memory?.add(length - this.#pendingLength);
    this.#pendingLength = length;
  }
}
