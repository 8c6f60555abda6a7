// Pages of live lists. Equal live lists share a page while the objects do not change, because each change wakes all of
// them.
import { LRUCache } from 'lru-cache';
import type { Task } from '../concurrency/time-slicer.ts';

export interface LivePage {
  /** Number of objects on the page. */
  readonly objects: number;
  /** Equal for equal pages. */
  readonly tag: string;
  /** Yields the page as one line of JSON, in time slices of the reader. */
  json(reader: Task): AsyncIterable<Buffer>;
}

/** Maximum number of shared pages, and maximum length of their keys. */
const MAX_PAGES = 64;
const MAX_KEY = 16_384;
/** Maximum number of objects on a page that is shared after it was computed, because the page has a list of them. */
const MAX_OBJECTS = 500;

export class LivePages {
  #snapshot: object | undefined;
  #pages = new LRUCache<string, Promise<LivePage>>({ max: MAX_PAGES });

  /** Returns the page of a snapshot. `key`: everything else that the page depends on. */
  of(snapshot: object, key: string, compute: () => Promise<LivePage>): Promise<LivePage> {
    if (snapshot !== this.#snapshot) {
      this.#snapshot = snapshot;
      this.#pages = new LRUCache({ max: MAX_PAGES });
    }
    const pages = this.#pages;
    const known = pages.get(key);
    if (known) return known;
    const page = compute();
    if (key.length > MAX_KEY) return page;
    pages.set(key, page);
    const evict = (): boolean => pages.delete(key);
    void page.then(({ objects }) => objects > MAX_OBJECTS && evict(), evict);
    return page;
  }
}
