/** Items by caller, each caller's in insertion order. Callers without items use no memory. */
export class ByCaller<Item> {
  readonly #items = new Map<string, Set<Item>>();
  #size = 0;

  /** The number of items of all callers. */
  get size(): number {
    return this.#size;
  }

  add(caller: string, item: Item): void {
    const items = this.#items.get(caller) ?? new Set();
    if (items.size === 0) this.#items.set(caller, items);
    items.add(item);
    this.#size++;
  }

  /** Returns false for a missing item. */
  delete(caller: string, item: Item): boolean {
    const items = this.#items.get(caller);
    if (!items?.delete(item)) return false;
    if (items.size === 0) this.#items.delete(caller);
    this.#size--;
    return true;
  }

  /** The first item of each caller, in the order of callers: initially that of their first items. */
  *firsts(): Generator<[caller: string, item: Item], void, undefined> {
    for (const [caller, items] of this.#items) {
      for (const first of items.values().take(1)) yield [caller, first];
    }
  }

  /** Moves the caller to the end of the order. */
  toEnd(caller: string): void {
    const items = this.#items.get(caller);
    if (!items) return;
    this.#items.delete(caller);
    this.#items.set(caller, items);
  }

  /**
   * The newest item of the caller with the most items, if that caller would still have at least as many as `caller` with one
   * more. Callers with unlimited demand so converge to equal shares without oscillation.
   */
  excessFor(caller: string): Item | undefined {
    let most: ReadonlySet<Item> | undefined;
    for (const items of this.#items.values()) if (!most || items.size > most.size) most = items;
    const own = this.#items.get(caller)?.size ?? 0;
    return most && most.size - 1 > own ? [...most].at(-1) : undefined;
  }
}
