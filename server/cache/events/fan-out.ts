import type { Logger } from 'pino';
import type { Change } from './change.ts';
import type { Watcher } from './watcher.ts';

interface Subscription<Facts> {
  readonly watcher: Watcher<Facts>;
  /** The watcher has everything up to here, or does not want it. */
  readonly from: bigint;
}

/** Tells the watchers. One that throws is dropped; the others never notice. */
export class FanOut<Facts> {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #subscriptions = new Set<Subscription<Facts>>();

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  /** Tells `watcher` everything after `from`. Returns the function that ends it. */
  add(watcher: Watcher<Facts>, from: bigint): () => void {
    const subscription = { watcher, from };
    this.#subscriptions.add(subscription);
    return () => this.#subscriptions.delete(subscription);
  }

  change(change: Change<Facts>): void {
    this.#tell(change.resourceVersion, (watcher) => watcher.event(change));
  }

  bookmark(version: bigint, resourceVersion: string): void {
    this.#tell(version, (watcher) => watcher.bookmark(resourceVersion));
  }

  /** Ends all watchers and forgets them. */
  end(): void {
    const ended = [...this.#subscriptions];
    this.#subscriptions.clear();
    for (const { watcher } of ended) this.#guard(() => watcher.end());
  }

  #tell(version: bigint, tell: (watcher: Watcher<Facts>) => void): void {
    for (const subscription of this.#subscriptions) {
      // Also keeps a watcher that was added meanwhile, and has read the window, from hearing the same twice.
      if (version <= subscription.from) continue;
      const told = this.#guard(() => tell(subscription.watcher));
      if (!told) this.#subscriptions.delete(subscription);
    }
  }

  #guard(tell: () => void): boolean {
    try {
      tell();
      return true;
    } catch (error) {
      this.#log.warn({ err: error }, 'a watcher failed and was dropped');
      return false;
    }
  }
}
