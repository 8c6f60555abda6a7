import type { MemoryShare } from '../reading/memory-budget.ts';

/** The memory of one query, shared by all who hold lines for it. */
export class HeldBytes {
  readonly #share: Pick<MemoryShare, 'held' | 'room' | 'change'>;
  #holders = 0;

  constructor(share: Pick<MemoryShare, 'held' | 'room' | 'change'>) {
    this.#share = share;
  }

  join(): void {
    this.#holders++;
  }

  /** `bytes`: what the leaving one holds no longer. */
  leave(bytes: number): void {
    this.#holders--;
    this.#share.change(-bytes);
  }

  /** May be negative. */
  change(bytes: number): void {
    this.#share.change(bytes);
  }

  /**
   * What a holder of so many bytes may keep: undefined while there is room, or while others hold more than their
   * share.
   */
  allowed(bytes: number): number | undefined {
    const { held, room } = this.#share;
    const share = room / Math.max(1, this.#holders);
    return held > room && bytes > share ? share : undefined;
  }
}
