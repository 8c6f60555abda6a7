import type { Order } from '../../../log-store.ts';
import { compareLines, type Place, type RankedLine } from '../reading/ranked-line.ts';
import { type LineBlock, readBlock } from './line-block.ts';

/** Blocks of one log, one behind the other; read in an order, and unpacked one at a time. */
export class LineChain {
  readonly #order: Order;
  readonly #blocks: LineBlock[] = [];
  #lines: Iterator<RankedLine> | undefined;
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
    const kept = this.#blocks.filter(isKept);
    this.#blocks.splice(0, this.#blocks.length, ...kept);
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
    this.#lines = block && readBlock(block, this.#order);
    return this.#read();
  }

  #read(): RankedLine | undefined {
    const next = this.#lines?.next();
    if (next?.done === false) return next.value;
    // Even at its end an iterator holds on to the block, which may be a thousand times what it was when it was packed.
    this.#lines = undefined;
    return undefined;
  }
}
