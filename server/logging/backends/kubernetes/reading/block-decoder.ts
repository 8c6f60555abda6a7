import type { MemoryShare } from './memory-budget.ts';

const NEWLINE = 0x0a;

/** Cuts a stream of chunks behind newlines and decodes whole lines together, which is far cheaper than one by one. */
export class BlockDecoder {
  readonly #limit: number;
  readonly #unfinished: Pick<MemoryShare, 'room' | 'change'> | undefined;
  #pending: Buffer[] = [];
  #pendingLength = 0;
  /** How many lines were cut because they are longer than the limit. */
  cutLines = 0;
  #skipping = false;

  /**
   * `limit`: bytes of a line that are kept. `unfinished`: where what has come of a line before its end is held; where
   * that has no room for more, the line is cut sooner.
   */
  constructor(limit: number, unfinished?: Pick<MemoryShare, 'room' | 'change'>) {
    this.#limit = limit;
    this.#unfinished = unfinished;
  }

  /** The lines that are complete by now, each with its newline; empty when there is none. The chunk is not kept. */
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

  /** What has come behind the last newline. */
  rest(): string {
    return this.#take();
  }

  #keep(chunk: Buffer): void {
    if (this.#skipping) return;
    const kept = Buffer.allocUnsafeSlow(chunk.length);
    chunk.copy(kept);
    this.#pending.push(kept);
    this.#hold(this.#pendingLength + chunk.length);
    const most = Math.min(this.#limit, Math.floor(this.#unfinished?.room ?? this.#limit));
    if (this.#pendingLength <= most) return;
    this.#pending = [Buffer.concat(this.#pending, most)];
    this.#hold(most);
    this.#skipping = true;
    this.cutLines++;
  }

  #take(...tail: Buffer[]): string {
    const text = Buffer.concat([...this.#pending, ...tail]).toString('utf8');
    this.#pending = [];
    this.#hold(0);
    const cut = this.#skipping;
    this.#skipping = false;
    // A character may have been cut in two.
    return cut ? text.replace(/\uFFFD$/, '') : text;
  }

  #hold(length: number): void {
    this.#unfinished?.change(length - this.#pendingLength);
    this.#pendingLength = length;
  }
}
