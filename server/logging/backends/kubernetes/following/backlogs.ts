// Progress of the logs whose existing lines a live tail still reads. The lines of all logs are complete only up to the
// least advanced one: its low watermark.
import type { Instant } from '../../../log-store.ts';

/** The backlog of one log. */
export interface Backlog {
  /** Everything up to this time was read; times can go back. */
  reached(time: Instant): void;
  /** The log delays the others no longer. */
  end(): void;
  /** Whether no other log is less advanced. */
  isLast(): boolean;
}

const NOTHING_READ: Instant = '';

export class Backlogs {
  readonly #reached = new Map<Backlog, Instant>();
  readonly #onAdvance: () => void;
  #watermark: Instant | undefined;

  constructor(onAdvance: () => void) {
    this.#onAdvance = onAdvance;
  }

  /** Undefined without backlogs. */
  get watermark(): Instant | undefined {
    return this.#watermark;
  }

  add(): Backlog {
    const reached = this.#reached;
    const backlog: Backlog = {
      reached: (time) => {
        const before = reached.get(backlog);
        if (before === undefined || time <= before) return;
        reached.set(backlog, time);
        if (before === this.#watermark) this.#update();
      },
      end: () => {
        if (reached.delete(backlog)) this.#update();
      },
      isLast: () => this.#watermark !== undefined && reached.get(backlog) === this.#watermark,
    };
    reached.set(backlog, NOTHING_READ);
    this.#watermark = NOTHING_READ;
    return backlog;
  }

  #update(): void {
    let least: Instant | undefined;
    for (const time of this.#reached.values()) if (least === undefined || time < least) least = time;
    if (least === this.#watermark) return;
    this.#watermark = least;
    this.#onAdvance();
  }
}
