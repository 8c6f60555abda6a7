import { sharerOf, type UserInfo } from '../../authentication/user.ts';
import type { LookupCache } from '../../memory/lookup-cache.ts';

export interface PermissionCacheOptions<Permission> {
  /** The empty cache of one caller. */
  readonly newCache: () => LookupCache<Permission>;
  /** Maximum number of callers. */
  readonly callers: number;
  /** Maximum number of permissions of all callers; lookups in progress may exceed it. */
  readonly permissions: number;
}

interface Caller<Permission> {
  readonly user: string;
  readonly cache: LookupCache<Permission>;
}

/**
 * Cache of permissions by caller. Each combination of groups and extra fields is a caller of its own, and a user may have
 * any number of them, so eviction takes the least recently used caller of the heaviest user.
 */
export class PermissionCache<Permission> {
  readonly #options: PermissionCacheOptions<Permission>;
  /** Least recently used first. */
  readonly #callers = new Map<string, Caller<Permission>>();

  constructor(options: PermissionCacheOptions<Permission>) {
    this.#options = options;
  }

  of(user: UserInfo): LookupCache<Permission> {
    const key = JSON.stringify([user.name, user.uid, user.groups, Object.entries(user.extra)]);
    const caller = this.#callers.get(key) ?? { user: sharerOf(user), cache: this.#options.newCache() };
    this.#callers.delete(key);
    while (this.#callers.size >= this.#options.callers) this.#evict(() => 1);
    while (this.#permissions() > this.#options.permissions) this.#evict(({ cache }) => cache.size);
    this.#callers.set(key, caller);
    return caller.cache;
  }

  #permissions(): number {
    return this.#callers.values().reduce((sum, { cache }) => sum + cache.size, 0);
  }

  #evict(weightOf: (caller: Caller<Permission>) => number): void {
    const weights = new Map<string, number>();
    for (const caller of this.#callers.values()) {
      weights.set(caller.user, (weights.get(caller.user) ?? 0) + weightOf(caller));
    }
    const [heaviest] = [...weights].reduce((most, each) => (each[1] > most[1] ? each : most));
    for (const [key, { user }] of this.#callers) {
      if (user === heaviest) return void this.#callers.delete(key);
    }
  }
}
