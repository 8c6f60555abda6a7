// All containers of a selection, followed: those that are there, and those that come.
import type { ClusterClient } from '../../../../cluster/connection/client.ts';
import { instantOf } from '../../../instant.ts';
import type { Instant, LogRecord, Selection } from '../../../log-store.ts';
import type { LongLines } from '../../../matching/long-lines.ts';
import type { LogSource } from '../pods/log-source.ts';
import type { PodFacts } from '../pods/pod-facts.ts';
import type { PodIndex, PodListener } from '../pods/pod-index.ts';
import { eachPod, reaches, type SourceFilter, sourceFilter, sourcesOf } from '../pods/source-selection.ts';
import { beginOf, lineFilter } from '../reading/line-filter.ts';
import type { LogReader } from '../reading/log-reader.ts';
import type { LogFailure } from '../reading/log-request.ts';
import type { MemoryShare } from '../reading/memory-budget.ts';
import { ContainerTail, type TailTuning } from './container-tail.ts';
import { FollowQueue } from './follow-queue.ts';
import type { CallerQuota } from './follow-quota.ts';
import { podChanged } from './pod-changed.ts';

export interface FollowerOptions {
  readonly client: ClusterClient;
  readonly reader: LogReader;
  readonly pods: PodIndex;
  readonly selection: Selection;
  readonly longLines: Pick<LongLines, 'matches'>;
  readonly quota: CallerQuota;
  /** For lines that wait for the reader. */
  readonly memory: MemoryShare;
  readonly unfinished: () => MemoryShare;
  readonly onFailure: (source: LogSource, failure: LogFailure) => void;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  readonly tuning?: TailTuning;
}

/** Lines that are hardly older are no backlog: each log is followed from the beginning, which is one request instead of two. */
const FRESH_MS = 2_000;

export class Follower {
  readonly #options: FollowerOptions;
  readonly #filter: SourceFilter;
  readonly #beginOf: (namespace: string) => Instant;
  readonly #queue: FollowQueue;
  /** By the container, and the uid of its pod. */
  readonly #tails = new Map<string, Promise<void>>();
  /** Before which lines are backlog. Containers that come later have none that others should wait for. */
  #backlogEnd: Instant | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#filter = sourceFilter(options.selection);
    this.#beginOf = beginOf(options.selection);
    this.#queue = new FollowQueue({ memory: options.memory });
  }

  /**
   * Until `signal` is aborted, or the reader stops. Throws LogFailure, and what the quota throws when there are more
   * containers than may be followed, also when these come later.
   */
  async *records(signal: AbortSignal): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const stop = new AbortController();
    const end = (): void => {
      stop.abort();
      this.#queue.fail(new Ended());
    };
    if (signal.aborted) return;
    signal.addEventListener('abort', end, { once: true });
    const stopListening = this.#options.pods.onChange((pod) => {
      this.#lookAgain(pod, stop.signal).catch((error: unknown) => this.#fail(error));
    });
    try {
      this.#backlogEnd = instantOf(this.#options.wallClock() - FRESH_MS);
      // No line is given before all logs are known that may have an older one.
      await this.#lookAtAll(stop.signal);
      this.#backlogEnd = undefined;
      for (;;) yield await this.#queue.take();
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
    } finally {
      stopListening();
      signal.removeEventListener('abort', end);
      end();
      await Promise.all(this.#tails.values());
    }
  }

  /** `changed`: undefined when all pods may have. */
  async #lookAgain(changed: Parameters<PodListener>[0], signal: AbortSignal): Promise<void> {
    if (!changed) return this.#lookAtAll(signal);
    const { namespace, name } = changed;
    const pod = this.#options.pods.get(namespace, name);
    if (pod && this.#filter.namespace(namespace) && this.#filter.pod(name)) this.#lookAt(pod, signal);
  }

  async #lookAtAll(signal: AbortSignal): Promise<void> {
    const { pods, selection } = this.#options;
    await eachPod(pods, selection, this.#filter, (pod) => this.#lookAt(pod, signal));
  }

  #lookAt(pod: PodFacts, signal: AbortSignal): void {
    if (signal.aborted) throw new Ended();
    const begin = this.#beginOf(pod.namespace);
    for (const container of pod.containers) {
      const { name } = container;
      const key = `${pod.namespace}/${pod.name}/${pod.uid}/${name}`;
      if (!this.#filter.container(name) || this.#tails.has(key)) continue;
      if (!sourcesOf(pod, container).some((source) => reaches(source, begin))) continue;
      const place = this.#options.quota.take(this.#tails.size);
      const done = this.#tail(pod, name, signal)
        .catch((error: unknown) => this.#fail(error))
        .finally(() => {
          place[Symbol.dispose]();
          this.#tails.delete(key);
        });
      this.#tails.set(key, done);
    }
  }

  #fail(error: unknown): void {
    this.#queue.fail(error instanceof Error ? error : new Error(String(error)));
  }

  async #tail({ namespace, name, uid }: PodFacts, container: string, signal: AbortSignal): Promise<void> {
    const { client, reader, pods, selection, longLines, unfinished, onFailure, tuning } = this.#options;
    const begin = this.#beginOf(namespace);
    const hasBacklog = this.#backlogEnd !== undefined && begin < this.#backlogEnd;
    const progress = hasBacklog ? this.#queue.begin() : undefined;
    const tail = new ContainerTail({
      client,
      reader,
      sources: () => {
        const pod = pods.get(namespace, name);
        if (!pod || pod.uid !== uid) return undefined;
        const facts = pod.containers.find((one) => one.name === container);
        return facts ? sourcesOf(pod, facts).filter((source) => reaches(source, begin)) : [];
      },
      changed: (signal) => podChanged(pods, { namespace, name }, signal),
      begin,
      // A live tail does not report what it may have missed.
      filter: lineFilter(selection, { longLines, signal }),
      room: () => this.#queue.room(progress),
      give: (records) => this.#queue.push(records),
      progress,
      unfinished,
      onFailure,
      ...tuning,
    });
    await tail.run(signal);
  }
}

/** The reading was ended from outside. */
class Ended extends Error {}
