// The lines of a watch response: their form, and the cache that encodes each event once for all watchers.
import type { WatchEvent, WatchEventType } from '../cache/resource-cache.ts';

/** Type of a line of a watch response. */
type LineType = WatchEventType | 'BOOKMARK' | 'ERROR';

/** The part of a line before the object. */
export const LINE_STARTS: Readonly<Record<LineType, Buffer>> = {
  ADDED: start('ADDED'),
  MODIFIED: start('MODIFIED'),
  DELETED: start('DELETED'),
  BOOKMARK: start('BOOKMARK'),
  ERROR: start('ERROR'),
};

/** The part of a line after the object. */
export const LINE_END = Buffer.from('}\n');

/** Returns the line of an event; copies the parts of the object. */
export function line(type: LineType, ...object: readonly Buffer[]): Buffer {
  return Buffer.concat([LINE_STARTS[type], ...object, LINE_END]);
}

function start(type: LineType): Buffer {
  return Buffer.from(`{"type":"${type}","object":`);
}

/**
 * Cache of the lines of the current event. The event is sent to all watchers before the next one, and watchers with the
 * same representation share the bytes.
 */
export class WatchLines<Facts> {
  #event: WatchEvent<Facts> | undefined;
  readonly #lines = new Map<string, Buffer>();

  /** Returns the cached line. `form`: the type and the representation, which have few distinct values. */
  of(event: WatchEvent<Facts>, form: string, make: () => Buffer): Buffer {
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
