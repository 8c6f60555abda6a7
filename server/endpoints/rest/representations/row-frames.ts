import type { WatchEvent } from '../../../cache/events/watch-event.ts';

/**
 * The lines of the last event as tables, for all watchers of a resource: one event goes to all of them one after
 * another, and those who want the same form get the same bytes.
 */
export class RowFrames<Facts> {
  #event: WatchEvent<Facts> | undefined;
  readonly #lines = new Map<string, Buffer>();

  /** `form`: equal for lines that are the same; there are few. */
  line(event: WatchEvent<Facts>, form: string, make: () => Buffer): Buffer {
    if (event !== this.#event) {
      this.#event = event;
      this.#lines.clear();
    }
    const known = this.#lines.get(form);
    if (known) return known;
    const made = make();
    this.#lines.set(form, made);
    return made;
  }
}
