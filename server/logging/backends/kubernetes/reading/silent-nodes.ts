import { BoundedMap } from '../../../../memory/bounded-map.ts';

/** A short pause after the first silence: one log alone may take long to search, but those asked for with it wait too. */
const FIRST_REST_MS = 1_000;
const REST_MS = 15_000;
/** Some were silent because they were about to be removed, and never answer again. */
const MAX_NODES = 10_000;

/**
 * Nodes whose kubelets do not answer: their logs are not asked for again for a while, so that they do not take up the
 * time of all the others.
 */
export class SilentNodes {
  readonly #now: () => number;
  readonly #silent = new BoundedMap<string, { readonly times: number; readonly until: number }>(MAX_NODES);

  /** `now`: a monotonic clock, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  has(node: string): boolean {
    const known = this.#silent.get(node);
    return known !== undefined && this.#now() < known.until;
  }

  answered(node: string): void {
    this.#silent.delete(node);
  }

  wasSilent(node: string): void {
    // Of a pod that has none.
    if (node === '') return;
    const times = (this.#silent.get(node)?.times ?? 0) + 1;
    this.#silent.set(node, { times, until: this.#now() + (times > 1 ? REST_MS : FIRST_REST_MS) });
  }
}
