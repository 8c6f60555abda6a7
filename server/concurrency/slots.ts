import { InFlight } from './in-flight.ts';

/** How many may wait for a slot, and how long. */
export interface SlotQueue {
  /** 0: nobody may. */
  readonly length: number;
  readonly waitMs: number;
  /** For one who finds no place to wait, or has waited too long. */
  readonly refusal: () => Error;
}

/** The most that one caller may have, so that something is left for the others. */
export interface ShareOfOne {
  readonly slots: number;
  /** Places in the queue. */
  readonly waiting: number;
}

interface Waiting {
  readonly caller: string;
  readonly enter: () => void;
}

const ALL: ShareOfOne = { slots: Number.POSITIVE_INFINITY, waiting: Number.POSITIVE_INFINITY };

/**
 * Limits concurrent work; first come, first served, as far as nobody takes more than his share. Without a queue that is
 * bounded, everybody waits his turn.
 */
export class Slots {
  readonly #count: number;
  readonly #queue: SlotQueue | undefined;
  readonly #share: ShareOfOne;
  readonly #waiting = new Set<Waiting>();
  readonly #taken = new InFlight();

  constructor(count: number, queue?: SlotQueue, share = ALL) {
    this.#count = count;
    this.#queue = queue;
    this.#share = share;
  }

  get taken(): number {
    return this.#taken.all;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves with the slot, which is given back by disposing of it. Rejects with the queue's refusal, and with the
   * signal's reason when it is aborted first. `caller` is who the share counts for.
   */
  async take(signal?: AbortSignal, caller = ''): Promise<Disposable> {
    signal?.throwIfAborted();
    if (this.#taken.all < this.#count && this.#hasRoom(caller)) this.#taken.begin(caller);
    else await this.#turn(signal, caller);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#giveBack(caller);
        isHeld = false;
      },
    };
  }

  #turn(signal: AbortSignal | undefined, caller: string): Promise<void> {
    const queue = this.#queue;
    if (queue && !this.#canWait(queue, caller)) throw queue.refusal();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const enter = (): void => {
      leave();
      this.#taken.begin(caller);
      resolve();
    };
    const waiting = { caller, enter };
    const leave = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', gone);
      this.#waiting.delete(waiting);
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
    this.#waiting.add(waiting);
    return promise;
  }

  #hasRoom(caller: string): boolean {
    return this.#taken.of(caller) < this.#share.slots;
  }

  #canWait({ length }: SlotQueue, caller: string): boolean {
    if (this.#waiting.size >= length) return false;
    let own = 0;
    for (const waiting of this.#waiting) if (waiting.caller === caller) own++;
    return own < this.#share.waiting;
  }

  /** To whoever has waited longest and may have one, so that nobody comes in between. */
  #giveBack(caller: string): void {
    this.#taken.end(caller);
    for (const waiting of this.#waiting) {
      if (this.#hasRoom(waiting.caller)) return waiting.enter();
    }
  }
}
