// Seats: a capacity of concurrent work that callers share fairly. A caller is a tenant, or the network of an
// unauthenticated client.

/**
 * What one caller can take.
 *
 * - `reserve`: a caller gets a seat only while he holds fewer than are free (the dynamic thresholds of Choudhury and Hahne, 1998). So
 *   n busy callers leave 1/(n + 1) of the seats free for a newcomer. For work that can hang.
 * - `preempt`: all free seats. Without a free seat, the newest seat of the caller with the most is preempted. For streams.
 * - `queue`: all free seats. For short work that always ends: the next free seat is never far.
 */
export type Sharing = 'reserve' | 'preempt' | 'queue';

export interface SeatsOptions {
  readonly capacity: number;
  readonly sharing: Sharing;
  /** Maximum number of waiting requests. Unlimited by default, for work that another limit bounds. */
  readonly waiting?: number;
  /** Maximum wait of a request, in ms. Unlimited by default. */
  readonly waitMs?: number;
  /** Creates the error of a request that gets no seat. */
  readonly refusal: () => Error;
  /** Creates the error of a preempted holder; the error of `refusal` by default. */
  readonly preemption?: () => Error;
}

/** Called with the error of the preemption. The seat already belongs to another caller. */
export type OnPreemption = (error: Error) => void;

/** Work that can be abandoned while it waits. The signal is read only when it has to wait. */
export interface Waitable {
  readonly signal: AbortSignal;
}

/** A seat that is held until it is disposed of. A second disposal has no effect. */
export type Seat = Disposable;

interface Share {
  readonly caller: string;
  held: number;
  /** In order of arrival. */
  readonly waiting: Set<Waiter>;
  /** Seats that can be preempted, the oldest first. */
  readonly preemptible: Set<HeldSeat>;
}

interface Waiter {
  readonly enter: () => void;
  readonly refuse: () => void;
}

/** Callers without seats that stay in the map, because a Map allocates when a small map loses its entries again and again. */
const IDLE_SHARES = 64;

export class Seats {
  readonly #options: SeatsOptions;
  readonly #shares = new Map<string, Share>();
  #held = 0;
  #waiting = 0;
  /** Requests that got no seat. */
  refused = 0;
  preempted = 0;

  constructor(options: SeatsOptions) {
    this.#options = options;
  }

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** The number of callers in memory. */
  get callers(): number {
    return this.#shares.size;
  }

  /**
   * Returns a seat, or the promise of one. Throws or rejects with the error of `refusal`, or with the reason of the signal.
   * `onPreemption` is required with `preempt`.
   */
  take(caller: string, work: Waitable, onPreemption?: OnPreemption): Seat | Promise<Seat> {
    const share = this.#shareOf(caller);
    if (share.waiting.size === 0 && this.#hasRoom(share)) return this.#seat(share, onPreemption);
    if (this.#options.sharing !== 'preempt') return this.#wait(share, work);
    this.#preemptFor(share);
    return this.#seat(share, onPreemption);
  }

  #shareOf(caller: string): Share {
    let share = this.#shares.get(caller);
    if (!share) {
      share = { caller, held: 0, waiting: new Set(), preemptible: new Set() };
      this.#shares.set(caller, share);
    }
    return share;
  }

  #hasRoom({ held }: Share): boolean {
    const free = this.#options.capacity - this.#held;
    return free > 0 && (this.#options.sharing !== 'reserve' || held < free);
  }

  #seat(share: Share, onPreemption: OnPreemption | undefined): HeldSeat {
    this.#held++;
    share.held++;
    const seat = new HeldSeat(share, onPreemption, this.#release);
    if (onPreemption) share.preemptible.add(seat);
    return seat;
  }

  /** An arrow function, because a seat calls it. It assigns free seats at once, so that no new request overtakes the queue. */
  readonly #release = (seat: HeldSeat): void => {
    const { share } = seat;
    this.#held--;
    share.held--;
    if (seat.onPreemption) share.preemptible.delete(seat);
    this.#evictIdle(share);
    while (this.#waiting > 0 && this.#enterNext());
  };

  #evictIdle(share: Share): void {
    if (this.#shares.size <= IDLE_SHARES || share.held > 0 || share.waiting.size > 0) return;
    this.#shares.delete(share.caller);
  }

  /** Gives a seat to the waiting caller who holds the fewest; callers with equally many take turns. */
  #enterNext(): boolean {
    let least: Share | undefined;
    for (const share of this.#shares.values()) {
      if (share.waiting.size > 0 && (!least || share.held < least.held)) least = share;
    }
    if (!least || !this.#hasRoom(least)) return false;
    // Behind the other callers with equally many seats.
    this.#shares.delete(least.caller);
    this.#shares.set(least.caller, least);
    for (const first of least.waiting) {
      first.enter();
      return true;
    }
    return false;
  }

  /** Preempts the newest seat of the heaviest caller, who must keep as many as `share` then has. Throws if there is none. */
  #preemptFor(share: Share): void {
    let heaviest = share;
    for (const other of this.#shares.values()) if (other.held > heaviest.held) heaviest = other;
    const newest = heaviest.held - 1 > share.held ? [...heaviest.preemptible].at(-1) : undefined;
    if (!newest) throw this.#refusal(share);
    this.preempted++;
    newest[Symbol.dispose]();
    newest.onPreemption?.((this.#options.preemption ?? this.#options.refusal)());
  }

  #refusal(share: Share): Error {
    this.refused++;
    this.#evictIdle(share);
    return this.#options.refusal();
  }

  #wait(share: Share, { signal }: Waitable): Promise<Seat> {
    const { waitMs = Number.POSITIVE_INFINITY } = this.#options;
    if (signal.aborted) {
      this.#evictIdle(share);
      throw signal.reason as Error;
    }
    this.#makeRoomInQueue(share);
    const { promise, resolve, reject } = Promise.withResolvers<Seat>();
    const leave = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      share.waiting.delete(waiter);
      this.#waiting--;
    };
    const aborted = (): void => {
      leave();
      this.#evictIdle(share);
      reject(signal.reason as Error);
    };
    const waiter: Waiter = {
      enter: () => {
        leave();
        resolve(this.#seat(share, undefined));
      },
      refuse: () => {
        leave();
        reject(this.#refusal(share));
      },
    };
    const timer = Number.isFinite(waitMs) ? setTimeout(waiter.refuse, waitMs) : undefined;
    signal.addEventListener('abort', aborted, { once: true });
    share.waiting.add(waiter);
    this.#waiting++;
    return promise;
  }

  /** If the queue is full, the newest waiter of the heaviest caller leaves it. Throws if `share` would be the heaviest. */
  #makeRoomInQueue(share: Share): void {
    if (this.#waiting < (this.#options.waiting ?? Number.POSITIVE_INFINITY)) return;
    let heaviest: Share | undefined;
    for (const other of this.#shares.values()) {
      if (other.waiting.size > 0 && (!heaviest || weightOf(other) > weightOf(heaviest))) heaviest = other;
    }
    if (!heaviest || weightOf(heaviest) - 1 <= weightOf(share)) throw this.#refusal(share);
    [...heaviest.waiting].at(-1)?.refuse();
  }
}

function weightOf({ held, waiting }: Share): number {
  return held + waiting.size;
}

class HeldSeat implements Disposable {
  readonly share: Share;
  readonly onPreemption: OnPreemption | undefined;
  readonly #release: (seat: HeldSeat) => void;
  #isHeld = true;

  constructor(share: Share, onPreemption: OnPreemption | undefined, release: (seat: HeldSeat) => void) {
    this.share = share;
    this.onPreemption = onPreemption;
    this.#release = release;
  }

  [Symbol.dispose](): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#release(this);
  }
}
