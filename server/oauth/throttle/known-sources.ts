import { BoundedMap } from '../../memory/bounded-map.ts';

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
  readonly #accounts: BoundedMap<string, BoundedMap<string, number>>;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#accounts = new BoundedMap(limits.accounts);
  }

  has(account: string, source: string, now: number): boolean {
    const since = this.#accounts.get(account)?.get(source);
    return since !== undefined && now - since <= this.#limits.lifetime;
  }

  /** True when it was not known. */
  add(account: string, source: string, now: number): boolean {
    const isNew = !this.has(account, source, now);
    const sources = this.#accounts.get(account) ?? new BoundedMap<string, number>(this.#limits.sourcesOfOne);
    this.#accounts.set(account, sources.set(source, now));
    return isNew;
  }

  of(account: string): readonly string[] {
    return [...(this.#accounts.get(account)?.keys() ?? [])];
  }
}
