interface Limits {
  readonly accounts: number;
  readonly sourcesOfOne: number;
  /** Ms. */
  readonly lifetime: number;
}

/**
 * From where an account has signed in before. Only a success adds an entry, so the number of users bounds the size; even
 * so the least recent ones go first.
 */
export class KnownSources {
  readonly #limits: Limits;
  readonly #accounts = new Map<string, Map<string, number>>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  has(account: string, source: string, now: number): boolean {
    const since = this.#accounts.get(account)?.get(source);
    return since !== undefined && now - since <= this.#limits.lifetime;
  }

  /** True when it was not known. */
  add(account: string, source: string, now: number): boolean {
    const isNew = !this.has(account, source, now);
    const sources = this.#accounts.get(account) ?? new Map<string, number>();
    touch(sources, source, now, this.#limits.sourcesOfOne);
    touch(this.#accounts, account, sources, this.#limits.accounts);
    return isNew;
  }

  of(account: string): readonly string[] {
    return [...(this.#accounts.get(account)?.keys() ?? [])];
  }
}

/** Sets the entry as the most recent one of a map that is bounded. */
function touch<V>(map: Map<string, V>, key: string, value: V, capacity: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= capacity) return;
    map.delete(oldest);
  }
}
