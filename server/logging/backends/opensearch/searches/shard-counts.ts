// How many shards were asked for the same indices a moment ago. A store leaves out in silence what has been closed or
// deleted since these indices were looked at; that there are fewer shards is all that its answers tell of it.
import { ExpiringMap } from '../../../../memory/expiring-map.ts';

/** Longer than what is known of indices counts. */
const KEPT = { most: 256, ttlMs: 60_000 };

export class ShardCounts {
  readonly #newKnown: () => ExpiringMap<string, number>;
  #known: ExpiringMap<string, number>;

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number) {
    this.#newKnown = () => new ExpiringMap({ ...KEPT, now });
    this.#known = this.#newKnown();
  }

  /** To be called before a question: whether its answer, of so many shards, is of all that there were. */
  watch(indices: string): (shards: number) => boolean {
    const known = this.#known;
    return (shards) => {
      if (shards >= (known.get(indices) ?? 0)) {
        known.set(indices, shards);
        return true;
      }
      // Whoever asks now looks at them anew; others that are under way have to be told as well.
      if (this.#known === known) this.#known = this.#newKnown();
      return false;
    };
  }
}
