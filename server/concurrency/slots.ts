import { ByCaller } from './by-caller.ts';
import { InFlight } from './in-flight.ts';

/** How many may wait for a slot, and how long. */
export interface SlotQueue {
  /** 0: nobody may. */
  readonly length: number;
  readonly waitMs: number;
  /** For one who finds no place to wait, loses it to somebody who has fewer, or has waited too long. */
  readonly refusal: () => Error;
}

/** The most that one caller may have of so many that others leave. */
export type ShareOfOne = (left: number) => number;

interface Waiting {
  readonly enter: () => void;
  readonly refuse: () => void;
}

/**
 * Limits concurrent work. The next slot goes to the caller who has fewest, and among those in turns; what one caller asks for
 * is served as it came. Without a queue that is bounded, everybody waits his turn.
 */
export class Slots {
  readonly #count: number;
  readonly #queue: SlotQueue | undefined;
  readonly #share: ShareOfOne;
  /** Callers in the order of their turns. */
  readonly #waiting = new ByCaller<Waiting>();
  readonly #taken = new InFlight();

  constructor(count: number, queue?: SlotQueue, share: ShareOfOne = (left) => left) {
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
   * signal's reason when it is aborted first. `caller` is who turns and shares count for.
   */
  async take(signal?: AbortSignal, caller = ''): Promise<Disposable> {
    signal?.throwIfAborted();
    if (this.#hasRoom(caller)) this.#taken.begin(caller);
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
    if (queue) this.#makeRoom(queue, caller);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const enter = (): void => {
      leave();
      this.#waiting.toEnd(caller);
      this.#taken.begin(caller);
      resolve();
    };
    const refuse = (): void => {
      leave();
      reject(queue?.refusal());
    };
    const waiting = { enter, refuse };
    const leave = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', gone);
      this.#waiting.delete(caller, waiting);
    };
    const gone = (): void => {
      leave();
      reject(signal?.reason as Error);
    };
    const timer = queue && setTimeout(refuse, queue.waitMs);
    signal?.addEventListener('abort', gone, { once: true });
    this.#waiting.add(caller, waiting);
    return promise;
  }

  #hasRoom(caller: string): boolean {
    const own = this.#taken.of(caller);
    const left = this.#count - (this.#taken.all - own);
    return own < left && own < this.#share(left);
  }

  /** Who has most places in a full queue gives one to who has fewer. */
  #makeRoom({ length, refusal }: SlotQueue, caller: string): void {
    if (this.#waiting.size < length) return;
    const excess = this.#waiting.excessFor(caller);
    if (!excess) throw refusal();
    excess.refuse();
  }

  /** To those who wait, so that nobody comes in between. */
  #giveBack(caller: string): void {
    this.#taken.end(caller);
    for (let next = this.#next(); next; next = this.#next()) next.enter();
  }

  #next(): Waiting | undefined {
    let least = Number.POSITIVE_INFINITY;
    let next: Waiting | undefined;
    for (const [caller, waiting] of this.#waiting.firsts()) {
      const own = this.#taken.of(caller);
      if (own < least && this.#hasRoom(caller)) [least, next] = [own, waiting];
    }
    return next;
  }
}
