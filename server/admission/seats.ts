// Seats: a capacity of concurrent work that callers share fairly. A caller is a tenant, or the network of an
// unauthenticated client. The networks of one site are a group: sites share the seats, and the networks of a site share its part.
import { type Displaceable, type Group, type Load, type Share, victimFor } from './displacement.ts';
import { groupOf } from './network.ts';

/**
 * What one caller can take.
 *
 * - `reserve`: a group gets a seat only while it holds fewer than are free (the dynamic thresholds of Choudhury and Hahne, 1998). So
 *   n busy groups leave 1/(n + 1) of the seats free for a newcomer. For work that can hang.
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
type OnPreemption = (error: Error) => void;

/** Returns true while the work of a seat loses nothing by its preemption. The idle seats of a caller are preempted first. */
type IsIdle = () => boolean;

/** Work that can be abandoned while it waits. The signal is read only when it has to wait. */
interface Waitable {
  readonly signal: AbortSignal;
}

/** A seat that is held until it is disposed of. A second disposal has no effect. */
export type Seat = Disposable;

interface CallerShare extends Share {
  readonly caller: string;
  readonly group: CallerGroup;
  readonly waiters: Set<Waiter>;
  readonly displaceable: Set<Displaceable>;
}

interface CallerGroup extends Group {
  readonly name: string;
  readonly shares: Set<CallerShare>;
}

interface Waiter extends Displaceable {
  readonly enter: () => void;
}

/** Callers without seats that stay in the map, because a Map allocates when a small map loses its entries again and again. */
const IDLE_SHARES = 64;

export class Seats {
  readonly #options: SeatsOptions;
  readonly #isPreempting: boolean;
  readonly #shares = new Map<string, CallerShare>();
  readonly #groups = new Map<string, CallerGroup>();
  readonly #total: Load = { held: 0, waiting: 0 };
  /** Number of all seats and waiting requests so far. */
  #arrivals = 0;
  /** Requests that got no seat. */
  refused = 0;
  preempted = 0;

  constructor(options: SeatsOptions) {
    this.#options = options;
    this.#isPreempting = options.sharing === 'preempt';
  }

  get held(): number {
    return this.#total.held;
  }

  get waiting(): number {
    return this.#total.waiting;
  }

  /** The number of callers in memory. */
  get callers(): number {
    return this.#shares.size;
  }

  /**
   * Returns a seat, or the promise of one. Throws or rejects with the error of `refusal`, or with the reason of the signal.
   * `onPreemption` is required with `preempt`, which returns no promise.
   */
  take(caller: string, work: Waitable, onPreemption?: OnPreemption, isIdle?: IsIdle): Seat | Promise<Seat> {
    const share = this.#shareOf(caller);
    if (share.waiting > 0 || !this.#hasRoom(share.group)) {
      if (!this.#isPreempting) return this.#wait(share, work);
      this.#displaceFor(share);
    }
    return this.#seat(share, onPreemption, isIdle);
  }

  /** Returns a seat if one is free for the caller now. Not for `preempt`. */
  takeFree(caller: string): Seat | undefined {
    const share = this.#shareOf(caller);
    if (share.waiting === 0 && this.#hasRoom(share.group)) return this.#seat(share);
    this.#evictIdle(share);
    return undefined;
  }

  #shareOf(caller: string): CallerShare {
    const known = this.#shares.get(caller);
    if (known) return known;
    const name = groupOf(caller);
    const group = this.#groups.get(name) ?? { name, held: 0, waiting: 0, shares: new Set() };
    const waiters = new Set<Waiter>();
    const displaceable = this.#isPreempting ? new Set<Displaceable>() : waiters;
    const share: CallerShare = { caller, group, held: 0, waiting: 0, waiters, displaceable };
    group.shares.add(share);
    this.#groups.set(name, group);
    this.#shares.set(caller, share);
    return share;
  }

  #hasRoom({ held }: Group): boolean {
    const free = this.#options.capacity - this.#total.held;
    return free > 0 && (this.#options.sharing !== 'reserve' || held < free);
  }

  #seat(share: CallerShare, onPreemption?: OnPreemption, isIdle?: IsIdle): HeldSeat {
    this.#change(share, 'held', 1);
    const seat = new HeldSeat(share, this.#release);
    if (this.#isPreempting) {
      seat.displaceable = {
        number: this.#arrivals++,
        isIdle,
        displace: () => this.#preempt(seat, onPreemption),
      };
      share.displaceable.add(seat.displaceable);
    }
    return seat;
  }

  #change(share: CallerShare, part: keyof Load, by: 1 | -1): void {
    this.#total[part] += by;
    share.group[part] += by;
    share[part] += by;
  }

  /** An arrow function, because a seat calls it. It assigns free seats at once, so that no new request overtakes the queue. */
  readonly #release = (seat: HeldSeat): void => {
    const { share, displaceable } = seat;
    this.#change(share, 'held', -1);
    if (displaceable) share.displaceable.delete(displaceable);
    this.#evictIdle(share);
    while (this.#total.waiting > 0 && this.#enterNext());
  };

  #evictIdle(share: CallerShare): void {
    if (this.#shares.size <= IDLE_SHARES || share.held > 0 || share.waiting > 0) return;
    this.#shares.delete(share.caller);
    share.group.shares.delete(share);
    if (share.group.shares.size === 0) this.#groups.delete(share.group.name);
  }

  /** Gives a seat to the waiting group that holds the fewest, and in it to such a caller. With equally many, they take turns. */
  #enterNext(): boolean {
    const group = lightestWaiting(this.#groups.values());
    const share = group && lightestWaiting(group.shares);
    if (!share || !this.#hasRoom(group)) return false;
    // Behind the others with equally many seats.
    this.#groups.delete(group.name);
    this.#groups.set(group.name, group);
    group.shares.delete(share);
    group.shares.add(share);
    for (const first of share.waiters) {
      first.enter();
      return true;
    }
    return false;
  }

  /** Throws if no other request has to make room. */
  #displaceFor(share: CallerShare): void {
    const victim = victimFor(share, this.#groups, this.#isPreempting ? 'held' : 'waiting');
    if (!victim) throw this.#refusal(share);
    victim.displace();
  }

  #preempt(seat: HeldSeat, onPreemption: OnPreemption | undefined): void {
    this.preempted++;
    seat[Symbol.dispose]();
    onPreemption?.((this.#options.preemption ?? this.#options.refusal)());
  }

  #refusal(share: CallerShare): Error {
    this.refused++;
    this.#evictIdle(share);
    return this.#options.refusal();
  }

  #wait(share: CallerShare, { signal }: Waitable): Promise<Seat> {
    const { waiting = Number.POSITIVE_INFINITY, waitMs = Number.POSITIVE_INFINITY } = this.#options;
    if (signal.aborted) {
      this.#evictIdle(share);
      throw signal.reason as Error;
    }
    if (this.#total.waiting >= waiting) this.#displaceFor(share);
    const { promise, resolve, reject } = Promise.withResolvers<Seat>();
    const leave = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      share.waiters.delete(waiter);
      this.#change(share, 'waiting', -1);
    };
    const aborted = (): void => {
      leave();
      this.#evictIdle(share);
      reject(signal.reason as Error);
    };
    const refuse = (): void => {
      leave();
      reject(this.#refusal(share));
    };
    const waiter: Waiter = {
      number: this.#arrivals++,
      enter: () => {
        leave();
        resolve(this.#seat(share));
      },
      displace: refuse,
      isIdle: undefined,
    };
    const timer = Number.isFinite(waitMs) ? setTimeout(refuse, waitMs) : undefined;
    signal.addEventListener('abort', aborted, { once: true });
    share.waiters.add(waiter);
    this.#change(share, 'waiting', 1);
    return promise;
  }
}

function lightestWaiting<Item extends Load>(loads: Iterable<Item>): Item | undefined {
  let lightest: Item | undefined;
  for (const load of loads) {
    if (load.waiting > 0 && (!lightest || load.held < lightest.held)) lightest = load;
  }
  return lightest;
}

class HeldSeat implements Disposable {
  readonly share: CallerShare;
  /** The seat as one that can be preempted. */
  displaceable: Displaceable | undefined;
  readonly #release: (seat: HeldSeat) => void;
  #isHeld = true;

  constructor(share: CallerShare, release: (seat: HeldSeat) => void) {
    this.share = share;
    this.#release = release;
  }

  [Symbol.dispose](): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#release(this);
  }
}
