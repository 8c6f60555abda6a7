// Live tail of the pod log store that collects the texts of its lines.
import type { KubernetesLogStore } from '../../../../../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import type { Batches, Selection } from '../../../../../../server/logging/store/log-store.ts';
import { everything } from './instants.ts';

export class Tail {
  readonly #gone = new AbortController();
  readonly #batches: Batches;
  readonly seen: string[] = [];

  constructor(store: KubernetesLogStore, selection: Selection = everything, caller = 'alice') {
    this.#batches = store.follow(selection, { signal: this.#gone.signal, caller });
  }

  /** Reads until the line `text`, and returns the texts of all lines so far. */
  async until(text: string): Promise<string[]> {
    while (!this.seen.includes(text)) {
      const next = await this.#batches.next();
      if (next.done) throw new Error(`ended before ${text}`);
      this.seen.push(...next.value.map(({ log }) => log));
    }
    return this.seen;
  }

  async end(): Promise<void> {
    const ended = this.#batches.next();
    this.#gone.abort();
    for (let next = await ended; !next.done; ) next = await this.#batches.next();
  }
}
