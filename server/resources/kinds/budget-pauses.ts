// The pauses of kinds that exceeded the memory budget, by exact name. A pause doubles for a kind that does not fit again.

interface Pause {
  /** On the clock of performance.now(). */
  readonly until: number;
  readonly ms: number;
}

const FIRST_MS = 60_000;
const MAX_MS = 3_600_000;
/** Multiple of the last pause of a kind after which its pauses start again at the first. */
const FORGIVEN_AFTER = 2;

/** Why a kind is paused. */
export function overBudget(name: string): string {
  return `the ${name} of the cluster need more memory than this server has for caches`;
}

export class BudgetPauses {
  readonly #firstMs: number;
  readonly #pauses = new Map<string, Pause>();

  constructor(firstMs = FIRST_MS) {
    this.#firstMs = firstMs;
  }

  /** The kinds that are paused now. */
  get names(): readonly string[] {
    return [...this.#pauses.keys()].filter((name) => this.leftMs(name) > 0);
  }

  /** Returns the rest of the pause of a kind; 0 if there is none. */
  leftMs(name: string): number {
    return Math.max(0, (this.#pauses.get(name)?.until ?? 0) - performance.now());
  }

  begin(name: string): void {
    const last = this.#pauses.get(name);
    const ms = last ? Math.min(last.ms * 2, MAX_MS) : this.#firstMs;
    this.#pauses.set(name, { until: performance.now() + ms, ms });
  }

  sweep(): void {
    const now = performance.now();
    for (const [name, { until, ms }] of this.#pauses)
      if (until + ms * FORGIVEN_AFTER <= now) this.#pauses.delete(name);
  }
}
