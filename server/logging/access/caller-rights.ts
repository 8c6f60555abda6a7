import { sharerOf, type UserInfo } from '../../authentication/user.ts';
import type { LookupCache } from '../../memory/lookup-cache.ts';

export interface CallerRightsOptions<Right> {
  /** What is remembered of one caller, empty. */
  readonly none: () => LookupCache<Right>;
  /** Callers whose rights are remembered. */
  readonly callers: number;
  /** Rights of all callers together; they may be exceeded by what is asked under way. */
  readonly rights: number;
}

interface Caller<Right> {
  readonly user: string;
  readonly rights: LookupCache<Right>;
}

/**
 * The rights that are remembered, by caller. Each token is a caller of its own, and a user may have any number of them:
 * so where there is no room, the user goes first who has taken most of it, with what was not asked about for longest.
 */
export class CallerRights<Right> {
  readonly #options: CallerRightsOptions<Right>;
  /** The one who asked last comes last. */
  readonly #callers = new Map<string, Caller<Right>>();

  constructor(options: CallerRightsOptions<Right>) {
    this.#options = options;
  }

  of(user: UserInfo): LookupCache<Right> {
    const key = JSON.stringify([user.name, user.uid, user.groups, Object.entries(user.extra)]);
    const caller = this.#callers.get(key) ?? { user: sharerOf(user), rights: this.#options.none() };
    this.#callers.delete(key);
    this.#makeRoom();
    this.#callers.set(key, caller);
    return caller.rights;
  }

  #makeRoom(): void {
    while (this.#callers.size >= this.#options.callers) this.#forgetOne(() => 1);
    while (this.#rights() > this.#options.rights) this.#forgetOne(({ rights }) => rights.size);
  }

  #rights(): number {
    return this.#callers.values().reduce((sum, { rights }) => sum + rights.size, 0);
  }

  #forgetOne(weightOf: (caller: Caller<Right>) => number): void {
    const weights = new Map<string, number>();
    for (const caller of this.#callers.values()) {
      weights.set(caller.user, (weights.get(caller.user) ?? 0) + weightOf(caller));
    }
    const [greatest] = [...weights].reduce((most, each) => (each[1] > most[1] ? each : most));
    for (const [key, { user }] of this.#callers) {
      if (user === greatest) return void this.#callers.delete(key);
    }
  }
}
