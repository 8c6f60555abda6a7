// RepeatedLines: finds the lines that a resumed live tail repeats, with bounded memory. Equal lines of one container
// and time have the same id, so it counts them.

/** Ids of the lines of the 15 seconds that a resumed tail repeats, at about 1,300 lines per second. */
const MAX_IDS = 20_000;

export class RepeatedLines {
  /** How often each line was new, in all connections. */
  readonly #known: Counts;
  /** How often this connection has sent each line. */
  #sent: Counts;
  readonly #max: number;

  constructor(max = MAX_IDS) {
    this.#max = max;
    this.#known = new Counts(max);
    this.#sent = new Counts(max);
  }

  /** A connection begins: its lines can be repeated ones. */
  connected(): void {
    this.#sent = new Counts(this.#max);
  }

  /** Takes the next line of the connection. */
  isNew(id: string): boolean {
    const sent = this.#sent.of(id) + 1;
    this.#sent.set(id, sent);
    const known = this.#known.of(id);
    this.#known.set(id, Math.max(known, sent));
    return sent > known;
  }
}

/** Counts of the latest ids. */
class Counts {
  readonly #counts = new Map<string, number>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  of(id: string): number {
    return this.#counts.get(id) ?? 0;
  }

  set(id: string, count: number): void {
    // The latest id is the last key.
    this.#counts.delete(id);
    this.#counts.set(id, count);
    const [first] = this.#counts.keys();
    if (this.#counts.size > this.#max && first !== undefined) this.#counts.delete(first);
  }
}
