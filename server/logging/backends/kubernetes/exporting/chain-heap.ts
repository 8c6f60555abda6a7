import type { Order } from '../../../log-store.ts';
import { compareLines, type RankedLine } from '../reading/ranked-line.ts';
import type { LineChain } from './line-chain.ts';

/** Merges chains: a binary heap by the place of their next lines. */
export class ChainHeap {
  readonly #sign: number;
  readonly #chains: LineChain[] = [];

  constructor(order: Order) {
    this.#sign = order === 'asc' ? 1 : -1;
  }

  push(chain: LineChain): void {
    if (!chain.next) return;
    this.#chains.push(chain);
    for (let at = this.#chains.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#precedes(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  take(): RankedLine | undefined {
    const [top] = this.#chains;
    const line = top?.take();
    if (top && !top.next) {
      const last = this.#chains.pop();
      if (last && last !== top) this.#chains[0] = last;
    }
    this.#sink();
    return line;
  }

  #sink(): void {
    for (let at = 0; ; ) {
      let first = at;
      if (this.#precedes(2 * at + 1, first)) first = 2 * at + 1;
      if (this.#precedes(2 * at + 2, first)) first = 2 * at + 2;
      if (first === at) return;
      this.#swap(at, first);
      at = first;
    }
  }

  #precedes(a: number, b: number): boolean {
    const [one, other] = [this.#chains[a]?.next, this.#chains[b]?.next];
    return one !== undefined && other !== undefined && this.#sign * compareLines(one, other) < 0;
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#chains[a], this.#chains[b]];
    if (!one || !other) return;
    this.#chains[a] = other;
    this.#chains[b] = one;
  }
}
