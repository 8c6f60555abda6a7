/** Counters of operations in flight, in total and by caller. */
export class InFlight {
  readonly #counts = new Map<string, number>();
  #all = 0;

  get all(): number {
    return this.#all;
  }

  of(caller: string): number {
    return this.#counts.get(caller) ?? 0;
  }

  begin(caller: string): void {
    this.#all++;
    this.#counts.set(caller, this.of(caller) + 1);
  }

  end(caller: string): void {
    this.#all--;
    const left = this.of(caller) - 1;
    if (left > 0) this.#counts.set(caller, left);
    else this.#counts.delete(caller);
  }
}
