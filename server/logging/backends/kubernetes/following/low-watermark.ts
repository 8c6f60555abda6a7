import type { Instant } from '../../../log-store.ts';

/** How far one of several logs has been read. */
export interface Progress {
  /** Everything up to this time; times may go back. */
  reached(time: Instant): void;
  /** Nobody waits for it any more. */
  end(): void;
  /** Whether no other is further behind. */
  isLast(): boolean;
}

/**
 * Up to which time all of several logs have been read: only up to there the lines that came are without gaps. A log
 * counts until its progress ends.
 */
export class LowWatermark {
  readonly #reached = new Map<Progress, Instant>();
  readonly #moved: () => void;
  #time: Instant | undefined;

  constructor(moved: () => void) {
    this.#moved = moved;
  }

  /** Undefined when there is no log to wait for. */
  get time(): Instant | undefined {
    return this.#time;
  }

  /** Of one more log, of which nothing has been read. */
  begin(): Progress {
    const reached = this.#reached;
    const progress: Progress = {
      reached: (time) => {
        const before = reached.get(progress);
        if (before === undefined || time <= before) return;
        reached.set(progress, time);
        if (before === this.#time) this.#look();
      },
      end: () => {
        if (reached.delete(progress)) this.#look();
      },
      isLast: () => this.#time !== undefined && reached.get(progress) === this.#time,
    };
    reached.set(progress, NOTHING);
    this.#time = NOTHING;
    return progress;
  }

  #look(): void {
    const before = this.#time;
    this.#time = this.#reached.size === 0 ? undefined : lowest(this.#reached.values());
    if (this.#time !== before) this.#moved();
  }
}

/** Before every time. */
const NOTHING: Instant = '';

function lowest(times: Iterable<Instant>): Instant | undefined {
  let least: Instant | undefined;
  for (const time of times) if (least === undefined || time < least) least = time;
  return least;
}
