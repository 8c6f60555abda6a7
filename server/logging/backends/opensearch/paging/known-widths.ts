// How much of its range a broad question needed the last time: pages follow one another, and consoles repeat their
// questions. Only a hint: what is found with it is checked like anything else.
import { hash } from 'node:crypto';
import type { Order } from '../../../log-store.ts';
import type { SelectionQuery } from '../selection/selection-query.ts';

export interface Width {
  readonly ms: number;
  /** Lines that were in it. */
  readonly lines: number;
}

const TRUSTED_MS = 60_000;
const KEPT = 256;
const NO_RANGE = { start: '', end: '' };

/** The same question, whatever its range. */
export function kindOf(selected: SelectionQuery, order: Order, isFirst: boolean): string {
  const asked = JSON.stringify([selected.within(NO_RANGE), order, isFirst]);
  return hash('sha256', asked, 'base64');
}

export class KnownWidths {
  readonly #now: () => number;
  readonly #known = new Map<string, { readonly width: Width; readonly at: number }>();

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get(kind: string): Width | undefined {
    const known = this.#known.get(kind);
    return known && this.#now() - known.at < TRUSTED_MS ? known.width : undefined;
  }

  /** Undefined forgets it. */
  set(kind: string, width: Width | undefined): void {
    this.#known.delete(kind);
    if (!width) return;
    this.#known.set(kind, { width, at: this.#now() });
    const [oldest] = this.#known.keys();
    if (this.#known.size > KEPT && oldest !== undefined) this.#known.delete(oldest);
  }
}
