/**
 * Counts pieces of work by the turn of the event loop in which they were done. Unlike a duration the most of one turn
 * does not grow with what else the machine has to do.
 */
export class WorkPerTurn {
  #most = 0;
  #turn = 0;

  /** The most pieces that one turn has done so far. */
  get most(): number {
    return this.#most;
  }

  /** One piece of work is done. */
  note(): undefined {
    // What is due now runs before the turn ends, so the first piece of the next turn starts from 0.
    if (this.#turn === 0) {
      setImmediate(() => {
        this.#turn = 0;
      });
    }
    this.#turn++;
    this.#most = Math.max(this.#most, this.#turn);
  }
}
