// Scope of a caller: the namespaces whose log lines the caller may read. A caller may read the lines of a namespace if
// it may `get pods/log` there. This module checks and caches these permissions; the log stores apply the scope. If the
// cluster is unavailable, the query fails.
import { sharerOf, type UserInfo } from '../../authentication/user.ts';
import type { Authorizer, Decision } from '../../authorization/authorizer.ts';
import { inParallel } from '../../concurrency/parallel.ts';
import { BACKGROUND_SLICE_MS, TimeSlicer } from '../../concurrency/time-slicer.ts';
import { LookupCache } from '../../memory/lookup-cache.ts';
import type { Instant, NameFilter, Scope } from '../log-store.ts';
import { nameMatcher } from '../matching/name-filter.ts';
import type { Namespace } from './namespaces.ts';

export interface ScopesOptions {
  /** Not cached. */
  readonly authorizer: Authorizer;
  /** Throws ServiceUnavailable while the namespaces are unknown. */
  readonly namespaces: () => ReadonlyMap<string, Namespace>;
  /** TTL of allowed and denied permissions in ms; longer for queries over many namespaces. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  /** Aborts permission checks in progress. */
  readonly signal: AbortSignal;
  readonly monotonic?: () => number;
}

/** Concurrent permission checks of one query. */
const PARALLEL = 32;
const MAX_CALLERS = 256;
/** Permissions of all callers, about 260 bytes each, and of one caller. */
const MAX_PERMISSIONS = 262_144;
const MAX_PERMISSIONS_OF_CALLER = 16_384;
/**
 * Namespaces that can be checked within one TTL. For more, the TTL grows in proportion: otherwise all permissions would
 * expire before the next query, and one caller could load the cluster without bound.
 */
const NAMESPACES_PER_TTL = 250;
/** A valid name of a namespace; others are not checked. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

interface Permission extends Decision {
  readonly ttlMs: number;
  /** Creation time of the namespace at the check. */
  readonly since: Instant | undefined;
}

interface TtlFactors {
  readonly allow: number;
  readonly deny: number;
}

export class Scopes {
  readonly #options: ScopesOptions;
  readonly #permissions: PermissionCache<Permission>;

  constructor(options: ScopesOptions) {
    this.#options = options;
    this.#permissions = new PermissionCache({
      newCache: () => this.#newCache(),
      callers: MAX_CALLERS,
      permissions: MAX_PERMISSIONS,
    });
  }

  /** The scope of the caller for the namespaces of a query. Throws ServiceUnavailable if the cluster is unavailable. */
  async of(
    user: UserInfo,
    filter: NameFilter | undefined,
    call: { readonly signal: AbortSignal },
  ): Promise<Scope> {
    const { authorizer, allowTtlMs, denyTtlMs } = this.#options;
    const cache = this.#permissions.of(user);
    const check = (namespace: string, since: Instant | undefined, factors: TtlFactors, key: string) =>
      cache.get(
        key,
        async (signal) => {
          const decision = await authorizer.authorize(getPodLogs(user, namespace), { signal });
          const ttlMs = decision.allowed ? allowTtlMs * factors.allow : denyTtlMs * factors.deny;
          return { ...decision, ttlMs, since };
        },
        call,
      );
    if ((await check('', undefined, { allow: 1, deny: 1 }, '')).allowed) return { everything: true };
    const known = this.#options.namespaces();
    // Exact names are checked even if they do not exist, and substrings require a check of all namespaces. Otherwise the
    // response time would reveal which namespaces exist.
    const candidates = filter?.exact
      ? [...new Set(filter.exact)].filter((name) => NAMESPACE.test(name))
      : [...known.keys()];
    // Names of nonexistent namespaces must not prolong the TTL of an allowed permission.
    const factors = {
      allow: ttlFactor(Math.min(candidates.length, known.size)),
      deny: ttlFactor(candidates.length),
    };
    const isAllowed = async (name: string): Promise<boolean> => {
      const since = known.get(name)?.since;
      const cached = await check(name, since, factors, name);
      // An allowed permission is valid only for the namespace that existed at the check. A denied permission is not checked
      // again, because the response time would reveal that the namespace was recreated.
      if (!cached.allowed || cached.since === since) return cached.allowed;
      return (await check(name, since, factors, `${name} ${since}`)).allowed;
    };
    const allowed = await inParallel(PARALLEL, candidates, isAllowed);
    const isSelected = nameMatcher(filter);
    // Excludes a namespace that was recreated during the checks: the permission may belong to its predecessor.
    const current = this.#options.namespaces();
    const slicer = new TimeSlicer(BACKGROUND_SLICE_MS);
    const namespaces: Namespace[] = [];
    for (const [index, name] of candidates.entries()) {
      if (slicer.spent) await slicer.next();
      const namespace = known.get(name);
      const isSame = current.get(name)?.since === namespace?.since;
      if (namespace && allowed[index] && isSelected(name) && isSame) namespaces.push(namespace);
    }
    return { everything: false, namespaces: namespaces.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  }

  #newCache(): LookupCache<Permission> {
    const { signal, monotonic } = this.#options;
    return new LookupCache<Permission>({
      size: MAX_PERMISSIONS_OF_CALLER,
      ttlMs: ({ ttlMs }) => ttlMs,
      // Bounded by PARALLEL for each query; equal checks of several queries are shared.
      maxPending: Number.POSITIVE_INFINITY,
      signal,
      ...(monotonic ? { monotonic } : {}),
    });
  }
}

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
 * Cache of permissions by caller: a user with its groups and extra fields. A user may have any number of combinations of
 * them, so eviction removes the least recently used caller of the heaviest user.
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

function ttlFactor(namespaces: number): number {
  return Math.max(1, namespaces / NAMESPACES_PER_TTL);
}

function getPodLogs(user: UserInfo, namespace: string) {
  return {
    user,
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: 'log',
    namespace,
    name: '',
  };
}
