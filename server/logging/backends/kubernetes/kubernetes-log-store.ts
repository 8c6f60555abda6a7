// Log queries without a log store: from the pod log API of kube-apiserver, with this server's own identity. It keeps
// nothing but the names of pods; who may see what is decided before it is asked. Beside it: pods/ chooses the logs that a
// question is about, reading/ goes through them line by line (reading/pass.ts for all but exports and live tails), and
// each operation has a folder of its own.
import type { Logger } from 'pino';
import type { ClusterClient } from '../../../cluster/connection/client.ts';
import { boundedSignal } from '../../../concurrency/bounded-signal.ts';
import { Slots } from '../../../concurrency/slots.ts';
import { Turns } from '../../../concurrency/turns.ts';
import type {
  Buckets,
  Call,
  Coverage,
  FollowCall,
  LogBackend,
  LogHistogram,
  LogPage,
  LogRecord,
  LogStatistics,
  Order,
  PageRequest,
  Selection,
} from '../../log-store.ts';
import { LongLines } from '../../matching/long-lines.ts';
import { newStoreTimeout, newStoreUnavailable } from '../../store-errors.ts';
import { BucketCounts } from '../bucket-counts.ts';
import { LineCounts } from './counting/line-counts.ts';
import { Export } from './exporting/export.ts';
import { FollowQuota } from './following/follow-quota.ts';
import { Follower, type FollowerOptions } from './following/follower.ts';
import { PageReader } from './paging/page-reader.ts';
import type { LogSource } from './pods/log-source.ts';
import { PodDirectory } from './pods/pod-directory.ts';
import type { PodIndex } from './pods/pod-index.ts';
import { chooseSources, type LeftOut } from './pods/source-selection.ts';
import { asStoreError, readingBounds, STORE } from './reading/call-bounds.ts';
import type { Reading } from './reading/each-log.ts';
import { beginOf, lineFilter } from './reading/line-filter.ts';
import { LogReader } from './reading/log-reader.ts';
import type { LogFailureKind } from './reading/log-request.ts';
import { MemoryBudget } from './reading/memory-budget.ts';
import { Pass } from './reading/pass.ts';
import { Shortfalls } from './reading/shortfalls.ts';
import { checkAccess } from './self-check.ts';

/** `logging.kubernetes` of the configuration. */
export interface KubernetesLimits {
  readonly maxContainers: number;
  readonly concurrentReads: number;
  readonly followedLogs: number;
  /** Bytes. */
  readonly bytesPerContainer: number;
  /** Bytes, of lines that are held for all queries, exports and followers together. */
  readonly memory: number;
}

export interface KubernetesLogStoreOptions {
  readonly client: ClusterClient;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  readonly limits: KubernetesLimits;
  /** In which answers are read; some of its own when none are given. */
  readonly turns?: Turns;
  /** One of `limits.memory` bytes when none is given. */
  readonly memory?: MemoryBudget;
  /** How long pods are followed after the last question, in ms. */
  readonly idleMs?: number;
  /** How long a kubelet may be silent while it is read, in ms. */
  readonly kubeletTimeoutMs?: number;
  /** Ms that never go back. */
  readonly monotonic?: () => number;
  /** Milliseconds since the epoch. */
  readonly wallClock?: () => number;
  readonly followTuning?: FollowerOptions['tuning'];
}

/** The reflector hears from the cluster every minute, and gives up on a silent one after a minute and a half. */
const PODS_SILENT_MS = 150_000;

export class KubernetesLogStore implements LogBackend {
  readonly #options: KubernetesLogStoreOptions;
  readonly #directory: PodDirectory;
  readonly #reader: LogReader;
  readonly #quota: FollowQuota;
  readonly #memory: MemoryBudget;
  readonly #longLines: LongLines;

  constructor(options: KubernetesLogStoreOptions) {
    const { client, log, limits, turns = new Turns(), idleMs, kubeletTimeoutMs, monotonic } = options;
    this.#options = options;
    this.#directory = new PodDirectory({
      client,
      log,
      ...(idleMs === undefined ? {} : { idleMs }),
      ...(monotonic ? { monotonic } : {}),
    });
    this.#quota = new FollowQuota(limits);
    this.#longLines = new LongLines({ log });
    this.#memory = options.memory ?? new MemoryBudget(limits.memory);
    this.#reader = new LogReader({
      client,
      slots: new Slots(limits.concurrentReads),
      turns,
      ...(kubeletTimeoutMs === undefined ? {} : { idleMs: kubeletTimeoutMs }),
    });
  }

  async query(selection: Selection, request: PageRequest, call: Call): Promise<LogPage> {
    using memory = this.#memory.share();
    return await this.#overPods(selection, call, (pass) =>
      new PageReader({ pass, selection, memory }).read(request),
    );
  }

  async statistics(selection: Selection, call: Call): Promise<LogStatistics> {
    return this.#overPods(selection, call, async (pass) => {
      const counts = new LineCounts();
      await pass.readAll((source) => counts.tally(source));
      return {
        logs: pass.total(counts.logs),
        containers: counts.containers,
        containersApproximate: false,
        shortfalls: pass.shortfalls.list(),
      };
    });
  }

  async histogram(selection: Selection, buckets: Buckets, call: Call): Promise<LogHistogram> {
    return this.#overPods(selection, call, async (pass) => {
      const all = BucketCounts.of(buckets);
      await pass.readAll(() => {
        const own = all.empty();
        return { onLine: (time) => own.add(time), done: () => all.merge(own) };
      });
      return { total: pass.total(all.total), counts: all.counts, shortfalls: pass.shortfalls.list() };
    });
  }

  async *export(
    selection: Selection,
    order: Order,
    call: Call,
  ): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
    using bounded = readingBounds(call);
    const deadline = bounded.signal;
    try {
      using opened = await this.#pods(deadline, call.signal);
      const reading = await this.#reading(opened.pods, selection, deadline, call);
      return yield* new Export({ ...reading, order, memory: this.#memory }).records();
    } catch (error) {
      throw asStoreError(error);
    }
  }

  async *follow(
    selection: Selection,
    { signal, caller }: FollowCall,
  ): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { client, wallClock = Date.now, followTuning } = this.#options;
    try {
      using opened = await this.#pods(signal, signal);
      using memory = this.#memory.share();
      yield* new Follower({
        client,
        reader: this.#reader,
        pods: opened.pods,
        selection,
        longLines: this.#longLines.of(caller),
        quota: this.#quota.of(caller),
        memory,
        unfinished: () => this.#memory.share(),
        onFailure: (source, { kind, cause }) => this.#unread(source, kind, cause),
        wallClock,
        ...(followTuning ? { tuning: followTuning } : {}),
      }).records(signal);
    } catch (error) {
      if (!signal.aborted) throw asStoreError(error);
    }
  }

  async check({ signal, timeoutMs }: Call): Promise<void> {
    using bounded = boundedSignal(signal, timeoutMs);
    await checkAccess(this.#options.client, bounded.signal);
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#directory.run(signal);
    } finally {
      await this.#longLines.close();
    }
  }

  /** Finds the logs of the selection and lets `answer` read them. Throws only what stores may throw. */
  async #overPods<Answer>(
    selection: Selection,
    call: Call,
    answer: (pass: Pass) => Promise<Answer>,
  ): Promise<Answer> {
    const { bytesPerContainer } = this.#options.limits;
    using bounded = readingBounds(call);
    const deadline = bounded.signal;
    try {
      using opened = await this.#pods(deadline, call.signal);
      const reading = await this.#reading(opened.pods, selection, deadline, call);
      return await answer(new Pass({ ...reading, pods: opened.pods, bytesPerContainer }));
    } catch (error) {
      // Logs that are read beside one that failed: nothing else ends them any more.
      bounded.abort(error);
      throw asStoreError(error);
    }
  }

  async #reading(
    pods: PodIndex,
    selection: Selection,
    deadline: AbortSignal,
    { signal, caller }: Call,
  ): Promise<Reading> {
    const { maxContainers, concurrentReads } = this.#options.limits;
    const { sources, leftOut } = await chooseSources(pods, selection, maxContainers);
    const shortfalls = shortfallsOf(pods, leftOut);
    return {
      reader: this.#reader.of(caller),
      sources,
      beginOf: beginOf(selection),
      end: selection.range.end,
      filter: lineFilter(selection, {
        longLines: this.#longLines.of(caller),
        signal: deadline,
        shortened: () => shortfalls.lineShortened(),
      }),
      parallel: concurrentReads,
      deadline,
      signal,
      shortfalls,
      onFailure: (...failure) => this.#unread(...failure),
    };
  }

  async #pods(deadline: AbortSignal, signal: AbortSignal): ReturnType<PodDirectory['open']> {
    try {
      return await this.#directory.open(deadline);
    } catch (error) {
      signal.throwIfAborted();
      throw deadline.aborted ? newStoreTimeout(STORE) : newStoreUnavailable(STORE, error);
    }
  }

  #unread(source: LogSource, kind: LogFailureKind, cause: unknown): void {
    const { namespace, pod, container, previous } = source;
    const what = { namespace, pod, container, previous, kind, err: cause };
    this.#options.log.debug(what, 'a log could not be read');
  }
}

function shortfallsOf({ silentMs }: PodIndex, leftOut: LeftOut): Shortfalls {
  const shortfalls = new Shortfalls(leftOut);
  if (silentMs > PODS_SILENT_MS) shortfalls.podsUnknown(silentMs);
  return shortfalls;
}
