import type { Instant } from '../../../log-store.ts';
import { keptTime } from '../reading/ranked-line.ts';

/** Different times of one second that are remembered. */
const LIMIT = 20_000;

/**
 * Which lines of a log have been given, so that it can be opened again, from the second of the last one on, without
 * giving a line twice or losing one: how many of each time of that second. Counting lines from the beginning would not
 * work, since the kubelet may have started a new file in between.
 */
export class GivenLines {
  #second = '';
  #counts = new Map<Instant, number>();
  /** Beyond the limit: everything of the second before this time counts as given. */
  #floor: Instant = '';
  #replayed = new Map<Instant, number>();
  #replayedSecond = '';

  /** As they are now. */
  copy(): GivenLines {
    const copy = new GivenLines();
    copy.#second = this.#second;
    copy.#counts = new Map(this.#counts);
    copy.#floor = this.#floor;
    return copy;
  }

  /** From when on to ask; undefined when nothing was given yet. */
  get since(): Instant | undefined {
    return this.#second === '' ? undefined : `${this.#second}.000000000Z`;
  }

  /** The log begins anew, from `since` on. */
  reopened(): void {
    this.#replayed = new Map(this.#counts);
    this.#replayedSecond = this.#second;
  }

  /** Whether the next line of the log, of this time, has not been given yet; it counts as given from now on. */
  isNew(time: Instant): boolean {
    const second = time.slice(0, 19);
    if (second === this.#replayedSecond && this.#wasGiven(time)) return false;
    this.#remember(time, second);
    return true;
  }

  #wasGiven(time: Instant): boolean {
    if (time < this.#floor) return true;
    const count = this.#replayed.get(time) ?? 0;
    if (count > 0) this.#replayed.set(time, count - 1);
    return count > 0;
  }

  #remember(time: Instant, second: string): void {
    // Of earlier seconds nothing comes again.
    if (second < this.#second) return;
    if (second > this.#second) {
      this.#second = keptTime(second);
      this.#counts = new Map();
      this.#floor = '';
      this.#replayed.clear();
      this.#replayedSecond = '';
    }
    const kept = keptTime(time);
    this.#counts.set(kept, (this.#counts.get(kept) ?? 0) + 1);
    if (this.#counts.size <= LIMIT) return;
    this.#floor = kept;
    this.#counts = new Map([[kept, this.#counts.get(kept) ?? 1]]);
  }
}
