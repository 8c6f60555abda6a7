// Log store that reads the pod log API of kube-apiserver with the credentials of this server. Callers are authorized
// before each call to the store.
import type { Logger } from 'pino';
import { newTooManyRequests } from '../../../../apis/meta/v1/errors.ts';
import { Admission } from '../../../admission/admission.ts';
import type { Seats } from '../../../admission/seats.ts';
import type { ClusterClient } from '../../../cluster/connection/client.ts';
import { aborted } from '../../../concurrency/aborted.ts';
import { boundedSignal } from '../../../concurrency/bounded-signal.ts';
import { orAborted } from '../../../concurrency/or-aborted.ts';
import { TimeSlicer } from '../../../concurrency/time-slicer.ts';
import type { KindCopy } from '../../../resources/kinds/kind-copy.ts';
import { severityMatcher } from '../../matching/levels.ts';
import type {
  Batches,
  Buckets,
  Call,
  ExportBatches,
  FollowCall,
  LogBackend,
  LogHistogram,
  LogPage,
  LogStatistics,
  Order,
  PageRequest,
  Selection,
} from '../../store/log-store.ts';
import { newStoreTimeout, newStoreUnavailable } from '../../store/store-errors.ts';
import { BucketCounts, CountsBySeverity } from '../bucket-counts.ts';
import { checkAccess } from './access-check.ts';
import type { FollowTuning } from './container-follower.ts';
import { displayName, STORE } from './container-log.ts';
import { beginByNamespace, lineFilter } from './line-filter.ts';
import { MemoryBudget } from './line-memory.ts';
import { LogReader } from './log-reader.ts';
import { LogReadError } from './log-request.ts';
import { LogScan } from './log-scan.ts';
import { selectLogs } from './log-selection.ts';
import { exportLines, readPage } from './pod-log-pages.ts';
import { PodLogTail } from './pod-log-tail.ts';
import { Pods } from './pods.ts';
import { Shortfalls } from './shortfalls.ts';

export interface KubernetesLimits {
  readonly maxContainers: number;
  readonly concurrentReads: number;
  readonly followedLogs: number;
  readonly bytesPerContainer: number;
  /** Maximum bytes of log lines that all queries, exports and live tails together hold in memory. */
  readonly memory: number;
}

/** One caller can use half of the reads, of the followed logs and of the memory. */
export const POD_LOG_LIMITS = {
  /** The containers whose logs one query reads. Each is a request to a kubelet, and a query has 30 s. */
  maxContainers: 500,
  concurrentReads: 32,
  /** Each followed log is a connection of kube-apiserver to a kubelet. */
  followedLogs: 1_000,
  /** A kubelet rotates logs at 10 MiB by default. A query reads a larger log only at its start and its end. */
  bytesPerContainer: 64 << 20,
  memory: 64 << 20,
} as const satisfies KubernetesLimits;

export interface KubernetesLogStoreOptions {
  readonly client: ClusterClient;
  /** Returns the copy of all pods with the facts of log queries, from the first query on. */
  readonly pods: () => KindCopy;
  /** Default: an Admission without metrics. */
  readonly admission?: Pick<Admission, 'pool'>;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Default: POD_LOG_LIMITS. */
  readonly limits?: KubernetesLimits;
  readonly slicer?: TimeSlicer;
  /** Default: a budget of `limits.memory` bytes. */
  readonly memory?: MemoryBudget;
  /** Milliseconds since the epoch. */
  readonly wallClock?: () => number;
  readonly followTuning?: FollowTuning;
}

/** Above the 90 s without data after which the reflector reconnects, plus one interval between bookmarks (60 s). */
const PODS_SILENT_MS = 150_000;

const PARTIAL_SEARCH = 'only the start of some long lines was searched; match=substring searches whole lines';

export class KubernetesLogStore implements LogBackend {
  readonly #options: KubernetesLogStoreOptions & { readonly limits: KubernetesLimits };
  readonly #slicer: TimeSlicer;
  #pods: KindCopy | undefined;
  readonly #reader: LogReader;
  readonly #followSeats: Seats;
  readonly #memory: MemoryBudget;

  constructor(options: KubernetesLogStoreOptions) {
    const {
      client,
      log,
      limits = POD_LOG_LIMITS,
      slicer = new TimeSlicer(),
      wallClock,
      admission = new Admission(),
    } = options;
    this.#options = { ...options, limits };
    this.#slicer = slicer;
    this.#followSeats = admission.pool('followed-logs', {
      capacity: limits.followedLogs,
      sharing: 'reserve',
      waiting: 0,
      refusal: newTooManyFollowed,
    });
    this.#memory = options.memory ?? new MemoryBudget(limits.memory);
    this.#reader = new LogReader({
      client,
      log,
      seats: admission.pool('log-reads', { capacity: limits.concurrentReads, sharing: 'reserve' }),
      slicer,
      wallClock,
    });
  }

  async query(selection: Selection, request: PageRequest, call: Call): Promise<LogPage> {
    const [memory, slices] = [this.#memory, this.#slicer.of(call)];
    return this.#scan(selection, call, (scan) => readPage(request, { scan, selection, memory, slices }));
  }

  async statistics(selection: Selection, call: Call): Promise<LogStatistics> {
    return this.#scan(selection, call, async (scan) => {
      const containers = new Set<string>();
      let count = 0;
      await scan.readAll((log) => {
        const id = log.run.id || displayName(log);
        return {
          onLine: () => {
            count++;
            containers.add(id);
          },
        };
      });
      return {
        logs: scan.total(count),
        containers: containers.size,
        containersApproximate: false,
        shortfalls: scan.shortfalls.list(),
      };
    });
  }

  async histogram(selection: Selection, buckets: Buckets, call: Call): Promise<LogHistogram> {
    return this.#scan(selection, call, async (scan) => {
      const lines = new BucketCounts(buckets);
      const bySeverity = buckets.isBySeverity ? new CountsBySeverity(buckets) : undefined;
      const severityOf = severityMatcher(this.#slicer.of(call));
      await scan.readAll(() => ({
        onLine: (time, text) => {
          if (!lines.add(time) || !bySeverity) return;
          const severity = severityOf(text);
          return severity instanceof Promise
            ? severity.then((found) => bySeverity.add(found, time))
            : bySeverity.add(severity, time);
        },
      }));
      return {
        total: scan.total(lines.total),
        counts: lines.counts,
        ...(bySeverity ? { severities: bySeverity.counts } : {}),
        shortfalls: scan.shortfalls.list(),
      };
    });
  }

  async *export(selection: Selection, order: Order, call: Call): ExportBatches {
    using bounded = boundedSignal(call.signal, call.timeoutMs);
    try {
      const scan = await this.#newScan(selection, bounded.signal, call, undefined);
      const slices = this.#slicer.of(call);
      return yield* exportLines(order, { scan, selection, memory: this.#memory, slices });
    } catch (error) {
      // Aborts the reads of the other logs.
      bounded.abort(error);
      throw toStoreError(error);
    }
  }

  async *follow(selection: Selection, { signal, caller }: FollowCall): Batches {
    const { limits, wallClock = Date.now, followTuning } = this.#options;
    try {
      const pods = await this.#openPods(signal, signal);
      yield* new PodLogTail({
        reader: this.#reader.of(caller),
        pods,
        selection,
        seats: this.#followSeats,
        caller,
        slices: this.#slicer.of({ caller, signal }),
        maxContainers: limits.maxContainers,
        budget: this.#memory,
        wallClock,
        tuning: followTuning,
      }).records(signal);
    } catch (error) {
      if (!signal.aborted) throw toStoreError(error);
    }
  }

  async check({ signal, timeoutMs }: Call): Promise<void> {
    using bounded = boundedSignal(signal, timeoutMs);
    await checkAccess(this.#options.client, bounded.signal);
  }

  run(signal: AbortSignal): Promise<void> {
    return aborted(signal);
  }

  async #scan<Result>(
    selection: Selection,
    call: Call,
    read: (scan: LogScan) => Promise<Result>,
  ): Promise<Result> {
    using bounded = boundedSignal(call.signal, call.timeoutMs);
    try {
      const { bytesPerContainer } = this.#options.limits;
      return await read(await this.#newScan(selection, bounded.signal, call, bytesPerContainer));
    } catch (error) {
      // Aborts the reads of the other logs.
      bounded.abort(error);
      throw toStoreError(error);
    }
  }

  async #newScan(
    selection: Selection,
    deadline: AbortSignal,
    { signal, caller }: Call,
    bytesPerLog: number | undefined,
  ): Promise<LogScan> {
    const { maxContainers, concurrentReads: concurrency } = this.#options.limits;
    const pods = await this.#openPods(deadline, signal);
    const { logs, omitted } = await selectLogs(
      pods,
      selection,
      maxContainers,
      this.#slicer.of({ caller, signal }),
    );
    const shortfalls = new Shortfalls(omitted);
    if (pods.ageMs > PODS_SILENT_MS) {
      const seconds = Math.round(pods.ageMs / 1000);
      shortfalls.add('NotCovered', `pods that were created in the last ${seconds} s can be missing`);
    }
    return new LogScan({
      reader: this.#reader.of(caller),
      pods,
      logs,
      beginOf: beginByNamespace(selection),
      end: selection.range.end,
      filter: lineFilter(selection, {
        slices: this.#slicer.of({ caller, signal: deadline }),
        onPartialSearch: () => shortfalls.add('Limit', PARTIAL_SEARCH),
      }),
      concurrency,
      bytesPerLog,
      deadline,
      signal,
      shortfalls,
    });
  }

  /** Holds the pods from the first query on. Throws if their first list fails, although the informer retries. */
  async #openPods(deadline: AbortSignal, signal: AbortSignal): Promise<Pods> {
    signal.throwIfAborted();
    this.#pods ??= this.#options.pods();
    const copy = this.#pods;
    try {
      await orAborted(copy.informer.settled, deadline);
    } catch {
      signal.throwIfAborted();
      throw newStoreTimeout(STORE);
    }
    if (!copy.synced) throw newStoreUnavailable(STORE, copy.informer.failure);
    return new Pods(copy);
  }
}

function newTooManyFollowed(): Error {
  return newTooManyRequests('too many logs are followed; select fewer, or retry later', 10);
}

function toStoreError(error: unknown): unknown {
  return error instanceof LogReadError ? newStoreUnavailable(STORE, error) : error;
}
