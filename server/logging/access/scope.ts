// Which lines a caller may see: those of pods whose log the caller may get. Owns how the cluster is asked about that;
// stores apply the answer. When the cluster cannot be asked, nothing is shown.
import type { UserInfo } from '../../authentication/user.ts';
import type { Authorizer, Decision } from '../../authorization/authorizer.ts';
import { Pacer } from '../../concurrency/pacer.ts';
import { inParallel } from '../../concurrency/parallel.ts';
import { LookupCache } from '../../memory/lookup-cache.ts';
import type { Instant, NameFilter, Scope } from '../log-store.ts';
import { nameMatcher } from '../matching/name-filter.ts';
import { CallerRights } from './caller-rights.ts';
import type { Namespace } from './namespaces.ts';

export interface ScopesOptions {
  /** Asks the cluster each time; what it answers is remembered here. */
  readonly authorizer: Authorizer;
  /** Throws ServiceUnavailable while they are not known. */
  readonly namespaces: () => ReadonlyMap<string, Namespace>;
  /** How long a yes and a no are remembered, in ms; longer for who asks about very many namespaces. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  /** Ends questions that are under way. */
  readonly signal: AbortSignal;
  readonly monotonic?: () => number;
}

/** Questions of one caller that the cluster is asked at a time. */
const PARALLEL = 32;
/** Callers whose rights are remembered, and rights of all of them: some 260 bytes each. */
const MAX_CALLERS = 256;
const MAX_RIGHTS = 262_144;
/** Of one caller. */
const MAX_RIGHTS_OF_ONE = 16_384;
/**
 * Namespaces that are asked about in the time of one TTL. Asking about very many takes longer than the TTL, so that
 * nothing would be remembered when the next query comes; their rights hold in proportion, which bounds what one caller
 * has the cluster do.
 */
const NAMESPACES_A_TTL = 250;
/** The form of a namespace's name in Kubernetes; nothing else is worth a question. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

interface Right extends Decision {
  readonly ttlMs: number;
  /** Of the namespace that was there when the cluster was asked. */
  readonly since: Instant | undefined;
}

/** How many times as long as its TTL a yes and a no are remembered. */
interface Stretch {
  readonly allow: number;
  readonly deny: number;
}

const UNSTRETCHED: Stretch = { allow: 1, deny: 1 };

export class Scopes {
  readonly #options: ScopesOptions;
  readonly #rights: CallerRights<Right>;

  constructor(options: ScopesOptions) {
    this.#options = options;
    this.#rights = new CallerRights({
      none: () => this.#noRights(),
      callers: MAX_CALLERS,
      rights: MAX_RIGHTS,
    });
  }

  /**
   * What the caller may see of the namespaces that are asked for. Throws ServiceUnavailable when the cluster cannot be
   * asked. `scope` bears the signal of the request.
   */
  async of(
    user: UserInfo,
    filter: NameFilter | undefined,
    scope: { readonly signal: AbortSignal },
  ): Promise<Scope> {
    const { authorizer, allowTtlMs, denyTtlMs } = this.#options;
    const rights = this.#rights.of(user);
    const right = (namespace: string, since: Instant | undefined, stretch: Stretch, key: string) =>
      rights.get(
        key,
        async (signal) => {
          const decision = await authorizer.authorize(readLogs(user, namespace), { signal });
          const ttlMs = decision.allowed ? allowTtlMs * stretch.allow : denyTtlMs * stretch.deny;
          return { ...decision, ttlMs, since };
        },
        scope,
      );
    if ((await right('', undefined, UNSTRETCHED, '')).allowed) return { everything: true };
    const known = this.#options.namespaces();
    // Names that were given are asked about whether or not they exist, and where parts of names were given all are, so
    // that the time does not tell which there are.
    const asked = filter?.exact
      ? [...new Set(filter.exact)].filter((name) => NAMESPACE.test(name))
      : [...known.keys()];
    // Names that somebody makes up must not prolong a right that is taken away.
    const stretch = { allow: stretchFor(Math.min(asked.length, known.size)), deny: stretchFor(asked.length) };
    const may = async (name: string): Promise<boolean> => {
      const since = known.get(name)?.since;
      const remembered = await right(name, since, stretch, name);
      // A yes is about the namespace that had the name then. A no is not asked anew: the time would tell that it was made.
      if (!remembered.allowed || remembered.since === since) return remembered.allowed;
      return (await right(name, since, stretch, `${name} ${since}`)).allowed;
    };
    const allowed = await inParallel(PARALLEL, asked, may);
    const isWanted = nameMatcher(filter);
    // One that was made anew while the cluster was asked is left out: a yes may be about either of the two.
    const current = this.#options.namespaces();
    const pacer = new Pacer();
    const visible: Namespace[] = [];
    for (const [index, name] of asked.entries()) {
      if (pacer.spent) await pacer.breathe();
      const namespace = known.get(name);
      const isSeen = allowed[index] && isWanted(name) && current.get(name)?.since === namespace?.since;
      if (isSeen && namespace) visible.push(namespace);
    }
    return { everything: false, namespaces: visible.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  }

  #noRights(): LookupCache<Right> {
    const { signal, monotonic } = this.#options;
    return new LookupCache<Right>({
      size: MAX_RIGHTS_OF_ONE,
      ttlMs: ({ ttlMs }) => ttlMs,
      // `inParallel` bounds each request; questions that several of them ask are asked once.
      maxPending: Number.POSITIVE_INFINITY,
      signal,
      ...(monotonic ? { monotonic } : {}),
    });
  }
}

function stretchFor(namespaces: number): number {
  return Math.max(1, namespaces / NAMESPACES_A_TTL);
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
