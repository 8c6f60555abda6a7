// Lists kinds on demand or from the start, and releases the objects of idle kinds. The configuration limits the number of
// these kinds, and the memory of all caches together.
import { newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { PackedFrames } from '../../cache/stored-object.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import { pause } from '../../concurrency/pause.ts';
import { exactName, type Kind } from '../kind.ts';
import { BudgetPauses, overBudget } from './budget-pauses.ts';
import { FollowedKind } from './followed-kind.ts';
import type { FollowedKindsOptions } from './followed-kinds-options.ts';
import { isSameKind, KindCatalog } from './kind-catalog.ts';
import { KindCopies } from './kind-copies.ts';
import { kindToEvict } from './kind-eviction.ts';
import { MemoryBudget } from './memory-budget.ts';

type Wanted = Pick<Kind, 'group' | 'version' | 'plural'>;

const SWEEP_MS = 5_000;
/** Longer than the reflector needs to notice that a watch without bookmarks is broken, and to resume it. */
const STALE_MS = 180_000;
/** Longer than the interval of bookmarks, which prove that a quiet kind is up to date. */
const FRESH_MS = 90_000;
const LOADING_MS = 10_000;
/** Number of kinds in the description for `/readyz?verbose`. */
const DESCRIBED = 5;

export class FollowedKinds {
  readonly catalog: KindCatalog;
  readonly copies: KindCopies;
  readonly #options: FollowedKindsOptions;
  readonly #frames = new PackedFrames();
  /** The kinds over their budget, by exact name. */
  readonly #pauses: BudgetPauses;
  /** By exact name. */
  readonly #followed = new Map<string, FollowedKind>();
  readonly #budget: MemoryBudget;
  #signal: AbortSignal | undefined;

  constructor(options: FollowedKindsOptions) {
    this.#options = options;
    this.#pauses = new BudgetPauses(options.overBudgetMs);
    const { client, log, domain, restricted, callerIndependent } = options;
    this.#budget = new MemoryBudget({
      maxBytes: options.memoryBudget,
      otherBytes: () => this.#frames.openBytes + this.copies.heldBytes + (options.otherBytes?.() ?? 0),
      kinds: () => [...this.#followed.values()].filter(({ copy }) => copy.isReleasable),
      limitFacts: () => this.copies.limitFacts(),
      drop: (followed) => this.#drop(followed),
      refuse: (followed) => this.#refuse(followed),
    });
    this.copies = new KindCopies({
      client,
      log,
      domain,
      frames: this.#frames,
      growing: (bytes) => this.#budget.growing(bytes),
      maxBytes: this.#budget.maxKindBytes,
      metrics: options.metrics,
      overBudgetMs: options.overBudgetMs,
      ...(options.features ? { features: options.features } : {}),
    });
    this.catalog = new KindCatalog({
      client,
      copies: this.copies,
      log,
      domain,
      allowed: restricted,
      callerIndependent,
      changed: () => this.#stopChanged(),
    });
  }

  /** The kinds that are synced. */
  get synced(): readonly FollowedKind[] {
    return [...this.#followed.values()].filter(({ synced }) => synced);
  }

  get apiServicesOutage(): string | undefined {
    return this.catalog.apiServicesOutage;
  }

  /** Returns true if the kind is followed, and its resourceVersions are those of kube-apiserver. */
  follows(kind: Pick<Kind, 'group' | 'plural'>): boolean {
    return this.#followed.get(exactName(kind))?.kind.apiService?.aggregated === false;
  }

  /**
   * Returns a kind after its first list. Throws ServiceUnavailable if the list takes longer than `syncTimeout`, its API
   * is not available, the objects are stale, the APIServices or its definition are unknown, or the kind exceeds its memory
   * budget; NotFound if the kind does not exist any more.
   */
  use(kind: Kind, call: CallContext): Promise<FollowedKind> | FollowedKind {
    this.#checkBudget(kind);
    const unknown = this.catalog.apiServicesOutage;
    if (unknown) throw newServiceUnavailable(unknown, 1);
    const current = this.#current(kind);
    const outage = this.catalog.outage(current);
    if (outage && !this.#followed.get(exactName(kind))?.synced) throw newServiceUnavailable(outage, 1);
    const followed = this.#follow(current, call.caller);
    followed.usedAt = performance.now();
    if (!followed.synced) return this.#synced(followed, call);
    const isStale = followed.ageMs > (this.#options.staleMs ?? STALE_MS);
    if (isStale) throw newServiceUnavailable(outage ?? followed.reason, 1);
    return followed;
  }

  /** Returns a kind whose objects are up to date, without waiting; undefined if there is none. */
  cached(wanted: Wanted): FollowedKind | undefined {
    const kind = this.#comparable(wanted);
    const followed = kind && this.#followed.get(exactName(kind));
    if (!followed || !isSameKind(followed.kind, kind)) return undefined;
    followed.usedAt = performance.now();
    const isCurrent = followed.synced && !followed.interrupted && followed.ageMs <= FRESH_MS;
    return isCurrent ? followed : undefined;
  }

  /**
   * Returns a kind that `start` would follow for the caller; undefined if it is followed already, or if the limits do not allow it.
   * One kind loads after the other, so that the memory of the others is known: a client that reads all kinds must not fill the
   * memory of the server.
   */
  startable(wanted: Wanted, caller: string): Kind | undefined {
    const kind = this.#comparable(wanted);
    if (!kind || this.#signal?.aborted !== false || this.#followed.has(exactName(kind))) return undefined;
    if (this.#isFull && !this.#victimFor(caller, false)) return undefined;
    const since = performance.now() - (this.#options.loadingMs ?? LOADING_MS);
    for (const other of this.#followed.values())
      if (other.loading && other.startedAt > since) return undefined;
    return this.#budget.hasRoom ? kind : undefined;
  }

  /** Follows a kind from now on, if the limits still allow it. The caller has the permission to list all its objects. */
  start(wanted: Wanted, caller: string): void {
    const kind = this.startable(wanted, caller);
    if (kind) this.#follow(kind, caller, false);
  }

  /** Returns a kind whose caches can serve reads of the Kubernetes API. */
  #comparable(wanted: Wanted): Kind | undefined {
    const name = exactName(wanted);
    const kind = this.catalog.current(name);
    if (kind?.version !== wanted.version || this.#pauses.leftMs(name) > 0) return undefined;
    // The resourceVersions of an aggregated API prove nothing about its objects.
    const isLocal = kind.apiService?.aggregated === false;
    return isLocal && !this.catalog.isInterrupted(kind) ? kind : undefined;
  }

  /** Describes for `/readyz?verbose` the kinds that cannot be followed. */
  describe(): string {
    const failed = [
      ...[...this.copies.all].filter(({ forbidden }) => forbidden).map(({ reason }) => reason),
      ...[...this.#pauses.names, ...this.copies.paused].map(overBudget),
    ];
    const more = failed.length > DESCRIBED ? [`${failed.length - DESCRIBED} more`] : [];
    const { size } = this.#followed;
    const follows = `follows ${size} ${size === 1 ? 'kind' : 'kinds'}`;
    return [follows, ...failed.slice(0, DESCRIBED), ...more].join('; ');
  }

  async #synced(first: FollowedKind, { signal, caller }: CallContext): Promise<FollowedKind> {
    const deadline = performance.now() + this.#options.syncTimeout;
    let followed = first;
    for (;;) {
      await followed.waitUntilSynced(Math.max(0, deadline - performance.now()), signal);
      this.#checkBudget(followed.kind);
      if (followed.synced) return followed;
      const { kind, reason } = followed;
      const current = this.#current(kind);
      // The definition changes several times within a second when a version becomes preferred.
      if (isSameKind(kind, current)) {
        throw newServiceUnavailable(this.catalog.outage(kind) ?? reason, 1);
      }
      followed = this.#follow(current, caller);
    }
  }

  /**
   * Returns the kind as discovery describes it now, which can have changed since the path was resolved. Not in another scope: the
   * permissions for objects of a namespace would select objects of the cluster.
   */
  #current(kind: Kind): Kind {
    const name = exactName(kind);
    const current = this.catalog.current(name);
    if (!current) throw this.catalog.absence(name);
    if (current.namespaced !== kind.namespaced)
      throw newServiceUnavailable(`the scope of ${name} has changed`, 1);
    return current;
  }

  #checkBudget(kind: Kind): void {
    const name = exactName(kind);
    const seconds = this.#pauses.leftMs(name) / 1000;
    if (seconds <= 0) return;
    throw newServiceUnavailable(overBudget(name), Math.ceil(seconds));
  }

  /** Runs until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    // The lists take the longest, so they are first in the queue for a connection.
    const running = [this.copies.run(signal), this.catalog.run(signal)];
    while (!signal.aborted) {
      await this.#preload(signal);
      this.#sweep();
      await pause(this.#options.sweepMs ?? SWEEP_MS, signal);
    }
    await Promise.all(running);
  }

  /** `isRequired`: the caller gets no response without the kind. */
  #follow(kind: Kind, caller = '', isRequired = true): FollowedKind {
    const name = exactName(kind);
    const known = this.#followed.get(name);
    if (known && isSameKind(known.kind, kind)) return known;
    if (known) this.#drop(known);
    if (this.#isFull) this.#evictOne(caller, isRequired);
    if (this.#signal?.aborted !== false) throw newServiceUnavailable('the server is starting or stopping', 1);
    const followed = new FollowedKind(kind, this.copies.hold(kind, 'objects'), this.#options.slicer);
    followed.startedBy = caller;
    this.#followed.set(name, followed);
    return followed;
  }

  /** Follows the kinds of the configuration as soon as they exist. */
  async #preload(signal: AbortSignal): Promise<void> {
    for (const resource of this.#options.preload) {
      try {
        const kind = await this.catalog.resolve(resource, { signal });
        this.#checkBudget(kind);
        this.#follow(kind).usedAt = performance.now();
      } catch (err) {
        if (!signal.aborted)
          this.#options.log.debug({ err, resource }, 'a preloaded resource cannot be followed');
      }
    }
  }

  #sweep(): void {
    const now = performance.now();
    this.#budget.enforce();
    for (const followed of this.#followed.values()) {
      const isIdle = followed.watchers === 0 && now - followed.usedAt > this.#options.idleTimeout;
      if (isIdle) this.#drop(followed);
    }
    this.#pauses.sweep();
  }

  /** Stops kinds that were removed, or whose definition changed. The others are not affected. */
  #stopChanged(): void {
    for (const [name, followed] of this.#followed) {
      if (!isSameKind(followed.kind, this.catalog.current(name))) this.#drop(followed);
    }
  }

  /** Releases the memory of a kind, and does not follow it during a pause. */
  #refuse(followed: FollowedKind): void {
    const name = exactName(followed.kind);
    const { log, memoryBudget } = this.#options;
    log.warn(
      { resource: name, bytes: followed.bytes, memoryBudget },
      `${overBudget(name)}; its lists get 503`,
    );
    this.#pauses.begin(name);
    this.#drop(followed);
  }

  get #isFull(): boolean {
    return this.#followed.size >= this.#options.maxKinds;
  }

  #victimFor(caller: string, isRequired: boolean): FollowedKind | undefined {
    return kindToEvict([...this.#followed.values()], caller, isRequired);
  }

  /** Throws ServiceUnavailable if no kind can be evicted. */
  #evictOne(caller: string, isRequired: boolean): void {
    const victim = this.#victimFor(caller, isRequired);
    if (!victim) {
      throw newServiceUnavailable(
        'the server follows as many kinds as it can, and none of them can be stopped for this caller',
        1,
      );
    }
    this.#drop(victim);
  }

  #drop(followed: FollowedKind): void {
    followed.stop();
    this.#followed.delete(exactName(followed.kind));
    this.copies.release(followed.copy, 'objects');
  }
}
