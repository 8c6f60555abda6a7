/** How many may wait for a slot, and how long. */
export interface SlotQueue {
  /** 0: nobody may. */
  readonly length: number;
  readonly waitMs: number;
  /** For one who finds no place to wait, or has waited too long. */
  readonly refusal: () => Error;
}

/** Limits concurrent work; first come, first served. Without a queue that is bounded, everybody waits his turn. */
export class Slots {
  readonly #count: number;
  readonly #queue: SlotQueue | undefined;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(count: number, queue?: SlotQueue) {
    this.#count = count;
    this.#queue = queue;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves with the slot, which is given back by disposing of it. Rejects with the queue's refusal, and with the
   * signal's reason when it is aborted first.
   */
  async take(signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    if (this.#taken < this.#count) this.#taken++;
    else await this.#turn(signal);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#giveBack();
        isHeld = false;
      },
    };
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    const queue = this.#queue;
    if (queue && this.#waiting.size >= queue.length) throw queue.refusal();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', gone);
      this.#waiting.delete(enter);
    };
    const enter = (): void => {
      leave();
      resolve();
    };
    const gone = (): void => {
      leave();
      reject(signal?.reason as Error);
    };
    const late = (): void => {
      leave();
      reject(queue?.refusal());
    };
    const timer = queue && setTimeout(late, queue.waitMs);
    signal?.addEventListener('abort', gone, { once: true });
    this.#waiting.add(enter);
    return promise;
  }

  /** To whoever has waited longest, so that nobody comes in between. */
  #giveBack(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#taken--;
  }
}
