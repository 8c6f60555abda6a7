// Semaphore with a queue. Free slots are shared fairly among waiting callers.
import { InFlight } from './in-flight.ts';

/** The limits of the queue for slots. */
export interface SlotQueue {
  /** Maximum number of waiting requests. 0: no queue. */
  readonly length: number;
  /** Maximum wait of a request, in ms. */
  readonly waitMs: number;
  /** Creates the error for a request that is rejected by a full queue, displaced from the queue, or waits too long. */
  readonly refusal: () => Error;
}

/** Returns the maximum number of slots of one caller. `left`: the number of slots that other callers do not use. */
export type ShareOfOne = (left: number) => number;

/** Limits one caller to three quarters of the slots that other callers do not use. */
export function tenantShare(left: number): number {
  return Math.max(1, Math.floor((left * 3) / 4));
}

interface Waiting {
  readonly enter: () => void;
  readonly refuse: () => void;
}

/**
 * Slots for concurrent requests, with fair queuing. A free slot goes to the caller with the fewest slots; callers with equally many
 * slots take turns. Requests of one caller are served in order. Without `queue`, the queue is unbounded.
 */
export class Slots {
  readonly #count: number;
  readonly #queue: SlotQueue | undefined;
  readonly #share: ShareOfOne;
  /** Callers in round-robin order. */
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
   * Resolves with a slot, which must be disposed of. Rejects with the error of the queue, or with the reason of `signal`. `caller` is
   * the tenant for fair queuing.
   */
  async take(signal?: AbortSignal, caller = ''): Promise<Disposable> {
    signal?.throwIfAborted();
    if (this.#hasRoom(caller)) this.#taken.begin(caller);
    else await this.#wait(signal, caller);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#release(caller);
        isHeld = false;
      },
    };
  }

  #wait(signal: AbortSignal | undefined, caller: string): Promise<void> {
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
      signal?.removeEventListener('abort', aborted);
      this.#waiting.delete(caller, waiting);
    };
    const aborted = (): void => {
      leave();
      reject(signal?.reason as Error);
    };
    const timer = queue && setTimeout(refuse, queue.waitMs);
    signal?.addEventListener('abort', aborted, { once: true });
    this.#waiting.add(caller, waiting);
    return promise;
  }

  #hasRoom(caller: string): boolean {
    const own = this.#taken.of(caller);
    const left = this.#count - (this.#taken.all - own);
    return own < left && own < this.#share(left);
  }

  /** If the queue is full, removes the newest request of the caller with the most waiting requests, or throws the error of the queue. */
  #makeRoom({ length, refusal }: SlotQueue, caller: string): void {
    if (this.#waiting.size < length) return;
    const excess = this.#waiting.excessFor(caller);
    if (!excess) throw refusal();
    excess.refuse();
  }

  /** Releases a slot. Assigns it synchronously, so that no new request overtakes the queue. */
  #release(caller: string): void {
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

/** A multimap of items by caller. The items of a caller are in insertion order. Callers without items use no memory. */
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

  /** Removes an item. Returns false if it is missing. */
  delete(caller: string, item: Item): boolean {
    const items = this.#items.get(caller);
    if (!items?.delete(item)) return false;
    if (items.size === 0) this.#items.delete(caller);
    this.#size--;
    return true;
  }

  /** The first item of each caller. Callers are in the order of their first insertion, as changed by `toEnd`. */
  *firsts(): Generator<[caller: string, item: Item], void, undefined> {
    for (const [caller, items] of this.#items) {
      for (const first of items.values().take(1)) yield [caller, first];
    }
  }

  /** Moves the caller to the end of the order of callers. */
  toEnd(caller: string): void {
    const items = this.#items.get(caller);
    if (!items) return;
    this.#items.delete(caller);
    this.#items.set(caller, items);
  }

  /**
   * Returns the item to preempt for a new item of `caller`: the newest item of the caller with the most items. Returns undefined if
   * `caller` would then have more items than that caller. So the callers converge to equal shares without oscillation.
   */
  excessFor(caller: string): Item | undefined {
    let most: ReadonlySet<Item> | undefined;
    for (const items of this.#items.values()) if (!most || items.size > most.size) most = items;
    const own = this.#items.get(caller)?.size ?? 0;
    return most && most.size - 1 > own ? [...most].at(-1) : undefined;
  }
}
