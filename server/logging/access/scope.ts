// Finds the namespaces whose logs a caller may read (permission to `get pods/log`). Log queries fail if the
// permissions cannot be checked.
import { hash } from 'node:crypto';
import type { UserInfo } from '../../authentication/user.ts';
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
/** Cached permissions of all callers, about 300 bytes each. */
const MAX_PERMISSIONS = 262_144;
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

export class Scopes {
  readonly #options: ScopesOptions;
  readonly #permissions: LookupCache<Permission>;

  constructor(options: ScopesOptions) {
    const { signal, monotonic } = options;
    this.#options = options;
    this.#permissions = new LookupCache<Permission>({
      size: MAX_PERMISSIONS,
      ttlMs: ({ ttlMs }) => ttlMs,
      // Bounded by PARALLEL for each query; equal checks of several queries are shared.
      maxPending: Number.POSITIVE_INFINITY,
      signal,
      ...(monotonic ? { monotonic } : {}),
    });
  }

  /** The scope of the caller for the namespaces of a query. Throws ServiceUnavailable if the cluster is unavailable. */
  async of(
    user: UserInfo,
    filter: NameFilter | undefined,
    call: { readonly signal: AbortSignal },
  ): Promise<Scope> {
    const { authorizer, allowTtlMs, denyTtlMs } = this.#options;
    const caller = digestOf(user);
    let ttlFactor = 1;
    const check = (namespace: string, since?: Instant, suffix = '') =>
      this.#permissions.get(
        `${caller}${namespace}${suffix}`,
        async (signal) => {
          const decision = await authorizer.authorize(getPodLogs(user, namespace), { signal });
          return { ...decision, ttlMs: ttlFactor * (decision.allowed ? allowTtlMs : denyTtlMs), since };
        },
        call,
      );
    if ((await check('')).allowed) return { everything: true };
    const known = this.#options.namespaces();
    // Exact names are checked even if they do not exist, and substrings require a check of all namespaces. Otherwise the
    // response time would reveal which namespaces exist.
    const candidates = filter?.exact
      ? [...new Set(filter.exact)].filter((name) => NAMESPACE.test(name))
      : [...known.keys()];
    // Names of nonexistent namespaces must not prolong the TTL of an allowed permission.
    ttlFactor = Math.max(1, Math.min(candidates.length, known.size) / NAMESPACES_PER_TTL);
    const isAllowed = async (name: string): Promise<boolean> => {
      const since = known.get(name)?.since;
      const cached = await check(name, since);
      // An allowed permission is valid only for the namespace that existed at the check. A denied permission is not checked
      // again, because the response time would reveal that the namespace was recreated.
      if (!cached.allowed || cached.since === since) return cached.allowed;
      return (await check(name, since, ` ${since}`)).allowed;
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
}

/** Identifies a user with its groups and extra fields; 22 characters. */
function digestOf({ name, uid, groups, extra }: UserInfo): string {
  return hash('sha256', JSON.stringify([name, uid, groups, extra]), 'base64url').slice(0, 22);
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
