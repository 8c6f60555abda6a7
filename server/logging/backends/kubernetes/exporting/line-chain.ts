import { release } from '../../../../memory/released.ts';
import type { Order } from '../../../log-store.ts';
import { compareLines, type Place, type RankedLine } from '../reading/ranked-line.ts';
import { BlockReader, type LineBlock } from './line-block.ts';

/** Blocks of one log, one behind the other; read in an order, and unpacked one at a time. */
export class LineChain {
  readonly #order: Order;
  readonly #blocks: LineBlock[] = [];
  #lines: BlockReader | undefined;
  #head: RankedLine | undefined;

  constructor(order: Order) {
    this.#order = order;
  }

  /** Ascending, whatever the order. */
  get blocks(): readonly LineBlock[] {
    return this.#blocks;
  }

  /** False when the block is not behind the last one. */
  append(block: LineBlock): boolean {
    const last = this.#blocks.at(-1)?.last;
    if (last && compareLines(last, block.first) > 0) return false;
    this.#blocks.push(block);
    return true;
  }

  /** Drops the blocks that are not to be kept. */
  keep(isKept: (block: LineBlock) => boolean): void {
    const kept: LineBlock[] = [];
    for (const block of this.#blocks) {
      if (isKept(block)) kept.push(block);
      else release(block.bytes);
    }
    this.#blocks.splice(0, this.#blocks.length, ...kept);
  }

  /** Drops everything. */
  end(): void {
    this.keep(() => false);
    this.#lines?.end();
    this.#lines = undefined;
    this.#head = undefined;
  }

  /** Where the next line stands; undefined when there is none. */
  get next(): Place | undefined {
    if (this.#head) return this.#head;
    return this.#order === 'asc' ? this.#blocks[0]?.first : this.#blocks.at(-1)?.last;
  }

  /** Takes the next line away. */
  take(): RankedLine | undefined {
    const line = this.#head ?? this.#open();
    this.#head = this.#read();
    return line;
  }

  #open(): RankedLine | undefined {
    const block = this.#order === 'asc' ? this.#blocks.shift() : this.#blocks.pop();
    this.#lines = block && new BlockReader(block, this.#order);
    return this.#read();
  }

  #read(): RankedLine | undefined {
    const next = this.#lines?.next();
    if (!next) this.#lines = undefined;
    return next;
  }
}
