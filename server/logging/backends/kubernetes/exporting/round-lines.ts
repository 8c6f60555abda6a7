import type { Instant, Order } from '../../../log-store.ts';
import type { MemoryShare } from '../reading/memory-budget.ts';
import { compareLines, type Place, type RankedLine } from '../reading/ranked-line.ts';
import { ChainHeap } from './chain-heap.ts';
import { BlockWriter, costOfBlock, type LineBlock, sizeOfLine } from './line-block.ts';
import { LineChain } from './line-chain.ts';

/** What is left of the memory after a cut. */
const KEPT_SHARE = 0.75;
/** Of the memory, for blocks that are written, and for those that are read: one of each log. */
const BLOCK_SHARE = 0.25;
const MIN_BLOCK = 1 << 10;
const MAX_BLOCK = 32 << 10;

export interface RoundLinesOptions {
  readonly order: Order;
  readonly memory: MemoryShare;
  /** Bytes that it takes at most; less while the memory of all does not suffice. */
  readonly most: number;
  /** How many logs there are. */
  readonly logs: number;
}

/**
 * The lines of one round of an export: as many as fit into the memory, the first ones in the order. Each log is already
 * sorted, up to a few lines, so that nothing has to be sorted as a whole.
 */
export class RoundLines {
  readonly #order: Order;
  readonly #sign: number;
  readonly #share: MemoryShare;
  readonly #most: number;
  readonly #blockSize: number;
  readonly #writers = new Map<number, BlockWriter>();
  /** By rank. More than one where a log was not in order for longer than a block. */
  readonly #chains = new Map<number, LineChain[]>();
  #cut: Place | undefined;

  constructor({ order, memory, most, logs }: RoundLinesOptions) {
    this.#order = order;
    this.#sign = order === 'asc' ? 1 : -1;
    this.#share = memory;
    this.#most = most;
    const share = Math.floor((this.memory * BLOCK_SHARE) / Math.max(1, logs));
    this.#blockSize = Math.min(MAX_BLOCK, Math.max(MIN_BLOCK, share));
  }

  /** What is kept is everything before it, in the order; undefined when nothing was let go. */
  get cut(): Place | undefined {
    return this.#cut;
  }

  get bytes(): number {
    return this.#share.held;
  }

  /** Bytes that it may take at the moment. */
  get memory(): number {
    return Math.min(this.#most, this.#share.room);
  }

  offer(time: Instant, rank: number, ordinal: number, text: string): void {
    if (this.#cut && !this.#precedes({ time, rank, ordinal }, this.#cut)) return;
    const writer = this.#writers.get(rank);
    if (writer?.add(time, ordinal, text)) return;
    this.close(rank);
    const size = Math.max(this.#blockSize, sizeOfLine(time, text));
    const next = new BlockWriter(rank, size);
    next.add(time, ordinal, text);
    this.#writers.set(rank, next);
    this.#share.change(next.capacity);
  }

  /** Releases the text that the last line of a log is a slice of: its reader decodes more at a time than is kept. */
  settle(rank: number): undefined {
    this.#writers.get(rank)?.settle();
  }

  /** This log has no more lines. */
  close(rank: number): void {
    const writer = this.#writers.get(rank);
    if (!writer) return;
    this.#writers.delete(rank);
    this.#share.change(-writer.capacity);
    const block = writer.seal();
    if (block) this.#keep(rank, block);
    if (this.bytes > this.memory) this.#cutBack();
  }

  /** Holds nothing any more. */
  end(): void {
    for (const writer of this.#writers.values()) writer.drop();
    this.#writers.clear();
    for (const chain of this.#allChains()) chain.end();
    this.#chains.clear();
    this.#share[Symbol.dispose]();
  }

  /** All that is kept, in order. Takes it away. */
  *drain(): Generator<RankedLine, void, undefined> {
    for (const rank of [...this.#writers.keys()]) this.close(rank);
    const heap = new ChainHeap(this.#order);
    const chains = this.#allChains();
    for (const chain of chains) heap.push(chain);
    this.#chains.clear();
    // One of each is unpacked at a time.
    this.#share.change(chains.length * this.#blockSize);
    try {
      for (let line = heap.take(); line; line = heap.take()) {
        if (this.#cut && !this.#precedes(line, this.#cut)) return;
        yield line;
      }
    } finally {
      for (const chain of chains) chain.end();
    }
  }

  #keep(rank: number, block: LineBlock): void {
    if (this.#cut && !this.#precedes(this.#beginOf(block), this.#cut)) return;
    let chains = this.#chains.get(rank);
    if (!chains) this.#chains.set(rank, (chains = []));
    if (!chains.some((chain) => chain.append(block))) {
      const chain = new LineChain(this.#order);
      chain.append(block);
      chains.push(chain);
    }
    this.#share.change(costOfBlock(block));
  }

  #cutBack(): void {
    const { memory } = this;
    const blocks = this.#allChains().flatMap((chain) => chain.blocks);
    blocks.sort((a, b) => this.#sign * compareLines(this.#beginOf(a), this.#beginOf(b)));
    const [first] = blocks;
    let kept = 0;
    // The first of all must stay, or there would be no progress; and so all that stand at its place, which are several
    // where a clock was set back.
    const cut = blocks.find((block) => {
      kept += costOfBlock(block);
      return (
        first && kept > memory * KEPT_SHARE && this.#precedes(this.#beginOf(first), this.#beginOf(block))
      );
    });
    if (!cut) return;
    const place = (this.#cut = this.#beginOf(cut));
    for (const chain of this.#allChains()) chain.keep((block) => this.#precedes(this.#beginOf(block), place));
    let bytes = 0;
    for (const { capacity } of this.#writers.values()) bytes += capacity;
    for (const chain of this.#allChains()) for (const block of chain.blocks) bytes += costOfBlock(block);
    this.#share.change(bytes - this.bytes);
  }

  #allChains(): LineChain[] {
    return [...this.#chains.values()].flat();
  }

  #beginOf({ first, last }: LineBlock): Place {
    return this.#order === 'asc' ? first : last;
  }

  #precedes(a: Place, b: Place): boolean {
    return this.#sign * compareLines(a, b) < 0;
  }
}
