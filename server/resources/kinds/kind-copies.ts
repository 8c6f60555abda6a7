// The copies of kinds on this replica: at most one informer for each kind. Lists, the acceleration and the API of nodes
// need the objects of a copy; other features need only their facts. A copy without users is released.
import { newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import type { CacheContent } from '../../cache/object-reader.ts';
import { aborted } from '../../concurrency/aborted.ts';
import { runUntraced } from '../../upstream/trace-context.ts';
import { exactName, type Kind, sourcePath } from '../kind.ts';
import { BudgetPauses, overBudget } from './budget-pauses.ts';
import { KindCopy, type KindCopyOptions } from './kind-copy.ts';

interface KindCopiesOptions extends KindCopyOptions {
  /** First pause in ms of a copy whose facts need more than the maximum; see BudgetPauses. */
  readonly overBudgetMs?: number | undefined;
}

export class KindCopies {
  readonly #options: KindCopiesOptions;
  /** By path. */
  readonly #copies = new Map<string, KindCopy>();
  readonly #running = new Set<Promise<void>>();
  /** The kinds whose facts are over the budget, by exact name. */
  readonly #pauses: BudgetPauses;
  #signal: AbortSignal | undefined;

  constructor(options: KindCopiesOptions) {
    this.#options = options;
    this.#pauses = new BudgetPauses(options.overBudgetMs);
  }

  /** The kinds whose facts are not read for a while, because they need too much memory. */
  get paused(): readonly string[] {
    return this.#pauses.names;
  }

  /** Suspends copies whose facts need more than the maximum. The features that need them get the reason. */
  limitFacts(): void {
    this.#pauses.sweep();
    for (const { kind, informer, hasExcessFacts, bytes } of this.all) {
      if (!hasExcessFacts) continue;
      const name = exactName(kind);
      this.#pauses.begin(name);
      this.#options.log.warn(
        { resource: name, bytes },
        `${overBudget(name)}; features that need them get 503`,
      );
      informer.suspend(this.#pauses.leftMs(name), newServiceUnavailable(overBudget(name), 1));
    }
  }

  /** Memory of the copies that features of this server hold, in bytes. */
  get heldBytes(): number {
    const copies = Iterator.from(this.all).filter(({ isReleasable }) => !isReleasable);
    return copies.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get all(): Iterable<KindCopy> {
    return this.#copies.values();
  }

  /** Returns the copy of a kind, and keeps it until `release`. `content`: what the caller needs of it. */
  hold(kind: Kind, content: CacheContent = 'facts'): KindCopy {
    const path = sourcePath(kind);
    let copy = this.#copies.get(path);
    if (!copy) {
      copy = new KindCopy(kind, content, this.#options);
      this.#copies.set(path, copy);
      if (this.#signal) this.#start(copy, this.#signal);
    }
    copy.hold(content);
    return copy;
  }

  /** Ends a hold. `content`: that of `hold`. */
  release(copy: KindCopy, content: CacheContent): void {
    if (copy.release(content)) return;
    this.#copies.delete(sourcePath(copy.kind));
    this.#options.metrics?.remove(copy.kind);
  }

  /** Runs until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    for (const copy of this.#copies.values()) this.#start(copy, signal);
    await aborted(signal);
    await Promise.all(this.#running);
  }

  #start(copy: KindCopy, signal: AbortSignal): void {
    // Outlives the request that needs the copy first.
    const running = runUntraced(() => copy.run(signal)).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}
