/** Bytes of initial events that are joined into one chunk. */
const USUAL_CHUNK = 128 * 1024;
/** About one object: smaller chunks would make each watch slower without saving more memory. */
const SMALLEST_CHUNK = 8 * 1024;

/**
 * The memory in which initial events wait for slow readers, shared by all watches of a resource. While there
 * is plenty it slows nothing down; the less is left, the less is prepared ahead for each watch.
 */
export class InitialEventsBudget {
  readonly #bytes: number;
  #taken = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** How large the next chunk should be. Twice as much may wait in a socket before its watch does. */
  get chunk(): number {
    return Math.min(USUAL_CHUNK, Math.max(SMALLEST_CHUNK, (this.#bytes - this.#taken) / 4));
  }

  /** Counts `bytes` as waiting until the returned function is called, once. */
  take(bytes: number): () => void {
    this.#taken += bytes;
    return () => {
      this.#taken -= bytes;
    };
  }
}
