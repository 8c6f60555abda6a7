import { BoundedMap } from '../../memory/bounded-map.ts';

export interface PollPaceOptions {
  /** Ms that never go back. */
  readonly monotonic: () => number;
}

/** In seconds, as devices are told (RFC 8628, 3.2). */
export const POLL_INTERVAL = 5;

interface Poller {
  /** When the next poll is in time, in ms. */
  next: number;
  intervalMs: number;
}

// A network may bring two polls closer together than they were sent.
const LEEWAY_MS = 500;
/** The one that has been silent longest goes first. */
const MAX_POLLERS = 2000;

/** RFC 8628, 3.5: a device that polls too fast has to wait five seconds longer from then on. Each replica counts alone. */
export class PollPace {
  readonly #options: PollPaceOptions;
  readonly #pollers = new BoundedMap<string, Poller>(MAX_POLLERS);

  constructor(options: PollPaceOptions) {
    this.#options = options;
  }

  /** Counts a poll; true when it came too early. */
  tooFast(id: string): boolean {
    const now = this.#options.monotonic();
    const known = this.#pollers.get(id);
    const intervalMs = known?.intervalMs ?? POLL_INTERVAL * 1000;
    const early = known !== undefined && now < known.next - LEEWAY_MS;
    const poller = { intervalMs: early ? intervalMs + POLL_INTERVAL * 1000 : intervalMs, next: 0 };
    poller.next = now + poller.intervalMs;
    this.#pollers.set(id, poller);
    return early;
  }
}
