/** Things of callers, of each in the order in which they came. Callers without any take no memory. */
export class ByCaller<Thing> {
  readonly #things = new Map<string, Set<Thing>>();
  #size = 0;

  /** Of all callers. */
  get size(): number {
    return this.#size;
  }

  add(caller: string, thing: Thing): void {
    const things = this.#things.get(caller) ?? new Set();
    if (things.size === 0) this.#things.set(caller, things);
    things.add(thing);
    this.#size++;
  }

  /** False where it is not there. */
  delete(caller: string, thing: Thing): boolean {
    const things = this.#things.get(caller);
    if (!things?.delete(thing)) return false;
    if (things.size === 0) this.#things.delete(caller);
    this.#size--;
    return true;
  }

  /** Of each caller what came first; callers in their order, which is that of their first things. */
  *firsts(): Generator<[caller: string, thing: Thing], void, undefined> {
    for (const [caller, things] of this.#things) {
      for (const first of things.values().take(1)) yield [caller, first];
    }
  }

  /** Puts the caller behind all others. */
  toEnd(caller: string): void {
    const things = this.#things.get(caller);
    if (!things) return;
    this.#things.delete(caller);
    this.#things.set(caller, things);
  }

  /**
   * What came last of whoever has most, if he keeps at least as many as the caller has with one more: so that callers who
   * want as much as they can get end up with the same, and nothing goes to and fro.
   */
  excessFor(caller: string): Thing | undefined {
    let most: ReadonlySet<Thing> | undefined;
    for (const things of this.#things.values()) if (!most || things.size > most.size) most = things;
    const own = this.#things.get(caller)?.size ?? 0;
    return most && most.size - 1 > own ? [...most].at(-1) : undefined;
  }
}
