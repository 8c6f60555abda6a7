// Finds the namespaces in which a caller has a permission. The result never includes a namespace without an allowed
// SubjectAccessReview.
import { hash } from 'node:crypto';
import type { UserInfo } from '../authentication/user.ts';
import type { CallContext } from '../cluster/call-context.ts';
import { inParallel } from '../concurrency/parallel.ts';
import { TimeSlicer } from '../concurrency/time-slicer.ts';
import { LookupCache } from '../memory/lookup-cache.ts';
import type { Authorizer, Decision, ResourceAttributes } from './authorizer.ts';
import type { Namespace } from './namespaces.ts';

/** A permission on a resource, for instance `list pods`. */
export type ScopedPermission = Pick<
  ResourceAttributes,
  'verb' | 'group' | 'version' | 'resource' | 'subresource'
>;

export type CallerScope =
  /** The permission for the whole cluster. */
  | { readonly everything: true }
  /** Existing namespaces with the permission, sorted by name; possibly none. */
  | { readonly everything: false; readonly namespaces: readonly Namespace[] };

export interface NamespaceScopesOptions {
  /** Not cached. */
  readonly authorizer: Authorizer;
  /** Throws ServiceUnavailable while the namespaces are unknown. */
  readonly namespaces: () => ReadonlyMap<string, Namespace>;
  /**
   * Returns the namespaces in which the user may have a permission; undefined if any namespace is possible. It only
   * reduces the number of reviews.
   */
  readonly candidates?: (user: UserInfo) => ReadonlySet<string> | undefined;
  /** TTL of allowed and denied permissions in ms; longer for queries over many namespaces. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  /** Aborts permission checks in progress. */
  readonly signal: AbortSignal;
  readonly monotonic?: () => number;
}

/** Concurrent permission checks of one query. */
const PARALLEL = 16;
/** Cached permissions of all callers, about 300 bytes each. */
export const MAX_PERMISSIONS = 262_144;
/**
 * Namespaces that can be checked within one TTL. For more, the TTL grows in proportion: otherwise all permissions would
 * expire before the next query, and one caller could load the cluster without bound.
 */
const NAMESPACES_PER_TTL = 250;
/** A valid name of a namespace; others are not checked. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

interface CachedPermission extends Decision {
  readonly ttlMs: number;
  /** Creation time of the namespace at the check. */
  readonly createdAt: number | undefined;
}

/** Checks a permission of a caller in a namespace, or for the whole cluster if the name is empty. */
type Checker = (
  namespace: string,
  ttlFactor: number,
  createdAt?: number,
  suffix?: string,
) => Promise<CachedPermission> | CachedPermission;

export class NamespaceScopes {
  readonly #options: NamespaceScopesOptions;
  readonly #permissions: LookupCache<CachedPermission>;
  readonly #slicer = new TimeSlicer();

  constructor(options: NamespaceScopesOptions) {
    const { signal, monotonic } = options;
    this.#options = options;
    this.#permissions = new LookupCache<CachedPermission>({
      size: MAX_PERMISSIONS,
      ttlMs: ({ ttlMs }) => ttlMs,
      signal,
      ...(monotonic ? { monotonic } : {}),
    });
  }

  /**
   * Returns the scope of a caller. `wanted`: only these namespaces are checked; undefined for all. Throws
   * ServiceUnavailable if the cluster is unavailable.
   */
  async of(
    user: UserInfo,
    permission: ScopedPermission,
    wanted: readonly string[] | undefined,
    call: CallContext,
  ): Promise<CallerScope> {
    const check = this.#checker(user, permission, call);
    return (await check('', 1)).allowed ? { everything: true } : this.#within(check, user, wanted, call);
  }

  /** Returns the scope of a caller who does not have the permission for the whole cluster, as `of` does. */
  within(
    user: UserInfo,
    permission: ScopedPermission,
    wanted: readonly string[] | undefined,
    call: CallContext,
  ): Promise<CallerScope> {
    return this.#within(this.#checker(user, permission, call), user, wanted, call);
  }

  async #within(
    check: Checker,
    user: UserInfo,
    wanted: readonly string[] | undefined,
    call: CallContext,
  ): Promise<CallerScope> {
    const known = this.#options.namespaces();
    const hinted = this.#options.candidates?.(user);
    // Wanted namespaces are checked even if they do not exist. Otherwise the response time would reveal which namespaces
    // exist.
    const candidates = wanted
      ? [...new Set(wanted)].filter((name) => (hinted ? hinted.has(name) : NAMESPACE.test(name)))
      : [...(hinted ?? known.keys())].filter((name) => known.has(name));
    // Names of nonexistent namespaces must not prolong the TTL of an allowed permission.
    const ttlFactor = Math.max(1, Math.min(candidates.length, known.size) / NAMESPACES_PER_TTL);
    // Without a promise for a cached permission, because a tenant can have many namespaces.
    const isAllowed = (name: string): boolean | Promise<boolean> => {
      const createdAt = known.get(name)?.createdAt;
      // An allowed permission is valid only for the namespace that existed at the check. A denied permission is not checked
      // again, because the response time would reveal that the namespace was recreated.
      const confirmed = (cached: CachedPermission): boolean | Promise<boolean> =>
        !cached.allowed || cached.createdAt === createdAt
          ? cached.allowed
          : Promise.resolve(check(name, ttlFactor, createdAt, ` ${createdAt}`)).then(
              ({ allowed }) => allowed,
            );
      const cached = check(name, ttlFactor, createdAt);
      return cached instanceof Promise ? cached.then(confirmed) : confirmed(cached);
    };
    const allowed = await inParallel(PARALLEL, candidates, isAllowed);
    // Excludes a namespace that was recreated during the checks: the permission may belong to its predecessor.
    const current = this.#options.namespaces();
    const slices = this.#slicer.of(call);
    const namespaces: Namespace[] = [];
    for (const [index, name] of candidates.entries()) {
      if (slices.spent) await slices.next();
      const namespace = known.get(name);
      const isSame = current.get(name)?.createdAt === namespace?.createdAt;
      if (namespace && allowed[index] && isSame) namespaces.push(namespace);
    }
    return { everything: false, namespaces: namespaces.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  }

  #checker(user: UserInfo, permission: ScopedPermission, call: CallContext): Checker {
    const { authorizer, allowTtlMs, denyTtlMs } = this.#options;
    const caller = digestOf(user, permission);
    return (namespace, ttlFactor, createdAt, suffix = '') =>
      this.#permissions.get(
        `${caller}${namespace}${suffix}`,
        async (signal) => {
          const attributes = { user, ...permission, namespace, name: '' };
          const decision = await authorizer.authorize(attributes, { signal, caller: call.caller });
          return { ...decision, ttlMs: ttlFactor * (decision.allowed ? allowTtlMs : denyTtlMs), createdAt };
        },
        call,
      );
  }
}

/** Identifies a user, with its groups and extra fields, and a permission; 22 characters. */
function digestOf({ name, uid, groups, extra }: UserInfo, permission: ScopedPermission): string {
  const { verb, group, resource, subresource } = permission;
  const text = JSON.stringify([name, uid, groups, extra, verb, group, resource, subresource]);
  return hash('sha256', text, 'base64url').slice(0, 22);
}
