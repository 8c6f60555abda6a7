// Counts units of work per iteration of the event loop. The count does not depend on the load of the machine.

/** Counts units of work per turn of the event loop. The count does not depend on the load of the machine. */
export class WorkPerTurn {
  #most = 0;
  #turn = 0;

  /** Maximum units of one turn so far. */
  get most(): number {
    return this.#most;
  }

  /** Records one unit of work. */
  note(): undefined {
    // Immediates run before the turn ends, so the next turn starts from 0.
    if (this.#turn === 0) {
      setImmediate(() => {
        this.#turn = 0;
      });
    }
    this.#turn++;
    this.#most = Math.max(this.#most, this.#turn);
  }
}

/** Keeps the event loop busy, as work that takes `ms`. */
export function workFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
