import type { WatchEvent } from './watch-event.ts';

/** What watchers are told. Methods return at once; a slow reader is the watcher's own problem. */
export interface Watcher<Facts> {
  event(event: WatchEvent<Facts>): void;
  /** The cluster has got this far without a change that concerns us. */
  bookmark(resourceVersion: string): void;
  /** The cache was filled anew: the stream ends and the client lists again. */
  end(): void;
}
