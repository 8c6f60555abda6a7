// Which lines a caller may see: those of pods whose log the caller may get. Owns how the cluster is asked about that;
// what is done with the answer is the stores' business. When the cluster can not be asked nothing is shown.
import type { UserInfo } from '../authentication/user.ts';
import type { Authorizer, Decision } from '../authorization/authorizer.ts';
import { ReviewCache } from '../cluster/reviews-cache.ts';
import type { NameFilter, Scope } from './log-store.ts';
import { nameMatcher } from './name-filter.ts';
import type { Namespace } from './namespaces.ts';
import { inParallel } from './parallel.ts';

export interface ScopesOptions {
  /** Asks the cluster each time; what it answers is remembered here. */
  readonly authorizer: Authorizer;
  /** Throws ServiceUnavailable while they are not known. */
  readonly namespaces: () => ReadonlyMap<string, Namespace>;
  /** How long a yes and a no are remembered, in ms. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  /** Questions of one caller that the cluster is asked at a time; 32 when none is given. */
  readonly parallel?: number;
  /** Ends questions that are under way. */
  readonly signal: AbortSignal;
  readonly monotonic?: () => number;
}

/** Callers whose rights are remembered; the one who asked first goes first. */
const MAX_CALLERS = 256;
/** The rights of one caller. */
const MAX_RIGHTS = 16_384;
/** What Kubernetes takes for the name of a namespace; nothing else is worth a question. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export class Scopes {
  readonly #options: ScopesOptions;
  readonly #callers = new Map<string, ReviewCache<Decision>>();

  constructor(options: ScopesOptions) {
    this.#options = options;
  }

  /**
   * What the caller may see of the namespaces that are asked for. Throws ServiceUnavailable when the cluster can not be
   * asked. `scope` bears the signal of the request.
   */
  async of(
    user: UserInfo,
    filter: NameFilter | undefined,
    scope: { readonly signal: AbortSignal },
  ): Promise<Scope> {
    const rights = this.#rightsOf(user);
    const may = async (namespace: string): Promise<boolean> => {
      const decision = await rights.get(
        namespace,
        async (signal) => this.#options.authorizer.authorize(readLogs(user, namespace), { signal }),
        scope,
      );
      return decision.allowed;
    };
    if (await may('')) return { everything: true };
    const namespaces = this.#options.namespaces();
    // Names that were given are asked about whether or not they exist, so that the time tells nothing.
    const asked = filter?.exact
      ? [...new Set(filter.exact)].filter((name) => NAMESPACE.test(name))
      : [...namespaces.keys()];
    const wanted = asked.filter(nameMatcher(filter));
    const allowed = await inParallel(this.#options.parallel ?? 32, wanted, may);
    const visible = wanted.flatMap((name, index) => (allowed[index] && namespaces.get(name)) || []);
    return { everything: false, namespaces: visible.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  }

  #rightsOf(user: UserInfo): ReviewCache<Decision> {
    const key = JSON.stringify([user.name, user.uid, user.groups, Object.entries(user.extra)]);
    const known = this.#callers.get(key);
    if (known) return known;
    const { allowTtlMs, denyTtlMs, signal, monotonic } = this.#options;
    const rights = new ReviewCache<Decision>({
      size: MAX_RIGHTS,
      ttlMs: ({ allowed }) => (allowed ? allowTtlMs : denyTtlMs),
      // `inParallel` bounds each request; questions that several of them ask are asked once.
      maxPending: Number.POSITIVE_INFINITY,
      signal,
      ...(monotonic ? { monotonic } : {}),
    });
    if (this.#callers.size >= MAX_CALLERS) {
      const oldest = this.#callers.keys().next();
      if (!oldest.done) this.#callers.delete(oldest.value);
    }
    this.#callers.set(key, rights);
    return rights;
  }
}

function readLogs(user: UserInfo, namespace: string) {
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
