// Live tail of all selected containers, including containers that start later. Each container has a
// ContainerFollower.
import type { Seats } from '../../../admission/seats.ts';
import type { TimeSlices } from '../../../concurrency/time-slicer.ts';
import { instantOf } from '../../store/instant.ts';
import type { Batches, Instant, Selection } from '../../store/log-store.ts';
import { newNotSupported } from '../../store/store-errors.ts';
import { ContainerFollower, type FollowTuning } from './container-follower.ts';
import { logsOf, mayReach, STORE } from './container-log.ts';
import { FollowQueue } from './follow-queue.ts';
import { beginByNamespace, type LineFilter, lineFilter } from './line-filter.ts';
import type { MemoryBudget, MemoryShare } from './line-memory.ts';
import type { LogReader } from './log-reader.ts';
import { eachPod, type PodFilter, podFilter } from './log-selection.ts';
import type { PodListener, PodSummary, Pods } from './pods.ts';

interface PodLogTailOptions {
  readonly reader: LogReader;
  readonly pods: Pods;
  readonly selection: Selection;
  /** Limit of the followed logs of all callers: each needs an open connection. */
  readonly seats: Seats;
  readonly caller: string | undefined;
  /** Of the caller. */
  readonly slices: TimeSlices;
  /** Maximum number of containers of this live tail. */
  readonly maxContainers: number;
  /** Memory of queued and incomplete lines. */
  readonly budget: MemoryBudget;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  readonly tuning?: FollowTuning | undefined;
}

/** If the live tail starts at most this far in the past, no backlog is read, which saves a request for each log. */
const FRESH_MS = 2_000;

export class PodLogTail {
  readonly #options: PodLogTailOptions;
  readonly #filter: PodFilter;
  readonly #lineFilter: LineFilter;
  readonly #beginOf: (namespace: string) => Instant;
  readonly #memory: MemoryShare;
  readonly #queue: FollowQueue;
  /** Running followers, by pod, UID of the pod, and container. */
  readonly #containers = new Map<string, Promise<void>>();
  /** A follower that starts before this time has a backlog. Undefined after the start: later containers have none. */
  #backlogEnd: Instant | undefined;

  constructor(options: PodLogTailOptions) {
    this.#options = options;
    this.#filter = podFilter(options.selection);
    // Without onPartialSearch, because a live tail has no partial result.
    this.#lineFilter = lineFilter(options.selection, options);
    this.#beginOf = beginByNamespace(options.selection);
    this.#memory = options.budget.share();
    this.#queue = new FollowQueue(this.#memory);
  }

  /**
   * Yields lines until `signal` is aborted or the client stops. Throws LogReadError. Throws NotSupported above the
   * maximum of containers, and the error of the seats above theirs, at the start or later.
   */
  async *records(signal: AbortSignal): Batches {
    const stop = new AbortController();
    const end = (): void => {
      stop.abort();
      this.#queue.fail(new Ended());
    };
    if (signal.aborted) return;
    signal.addEventListener('abort', end, { once: true });
    const unsubscribe = this.#options.pods.onChange((pod) => {
      this.#followChanged(pod, stop.signal).catch((error: unknown) => this.#fail(error));
    });
    try {
      this.#backlogEnd = instantOf(this.#options.wallClock() - FRESH_MS);
      // All backlogs are registered before the first line is sent.
      await this.#followAll(stop.signal);
      this.#backlogEnd = undefined;
      for (;;) yield await this.#queue.take();
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
    } finally {
      unsubscribe();
      signal.removeEventListener('abort', end);
      end();
      await Promise.all(this.#containers.values());
      this.#memory[Symbol.dispose]();
    }
  }

  async #followChanged(changed: Parameters<PodListener>[0], signal: AbortSignal): Promise<void> {
    if (!changed) return this.#followAll(signal);
    const { namespace, name } = changed;
    const pod = this.#options.pods.get(namespace, name);
    if (pod && this.#filter.namespace(namespace) && this.#filter.pod(name)) this.#followPod(pod, signal);
  }

  async #followAll(signal: AbortSignal): Promise<void> {
    const { pods, selection, slices } = this.#options;
    await eachPod(pods, selection, this.#filter, slices, (pod) => this.#followPod(pod, signal));
  }

  #followPod(pod: PodSummary, signal: AbortSignal): void {
    if (signal.aborted) throw new Ended();
    const begin = this.#beginOf(pod.namespace);
    for (const container of pod.containers) {
      const { name } = container;
      const key = `${pod.namespace}/${pod.name}/${pod.uid}/${name}`;
      if (!this.#filter.container(name) || this.#containers.has(key)) continue;
      if (!logsOf(pod, container).some((log) => mayReach(log, begin))) continue;
      const { maxContainers } = this.#options;
      if (this.#containers.size >= maxContainers) {
        const message = `a live tail follows at most ${maxContainers} containers, and more match; select fewer`;
        throw newNotSupported(STORE, 'follow', message);
      }
      const follower = this.#newFollower(pod, name);
      const done = this.#run(follower, signal).finally(() => this.#containers.delete(key));
      this.#containers.set(key, done);
    }
  }

  async #run(follower: ContainerFollower, signal: AbortSignal): Promise<void> {
    const { seats, caller = '' } = this.#options;
    try {
      using _seat = await seats.take(caller, { signal });
      await follower.run(signal);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#queue.fail(error instanceof Error ? error : new Error(String(error)));
  }

  #newFollower(pod: PodSummary, container: string): ContainerFollower {
    const { pods, tuning, ...options } = this.#options;
    const { namespace, name, uid } = pod;
    const begin = this.#beginOf(namespace);
    const hasBacklog = this.#backlogEnd !== undefined && begin < this.#backlogEnd;
    const backlog = hasBacklog ? this.#queue.addBacklog() : undefined;
    return new ContainerFollower({
      ...options,
      podUID: uid,
      logs: () => {
        const current = pods.get(namespace, name);
        if (!current || current.uid !== uid) return undefined;
        const summary = current.containers.find((one) => one.name === container);
        return summary ? logsOf(current, summary).filter((log) => mayReach(log, begin)) : [];
      },
      podChanged: (until) => pods.changed(pod, until),
      begin,
      filter: this.#lineFilter,
      room: () => this.#queue.room(backlog),
      deliver: (records) => this.#queue.push(records),
      backlog,
      ...tuning,
    });
  }
}

/** The signal was aborted or the client stopped. */
class Ended extends Error {}
