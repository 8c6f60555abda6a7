// Log queries without a log store: out of the pod log API of kube-apiserver, as this server's own identity. It keeps
// nothing but the names of pods; who may see what is decided before it is asked. Its neighbours: cluster/ for the
// connection and the reflector, matching/ for what lines say.
import type { Logger } from 'pino';
import type { ClusterClient } from '../../../cluster/client.ts';
import { Pacer } from '../../../cluster/pacer.ts';
import type {
  Buckets,
  Call,
  Coverage,
  LogBackend,
  LogHistogram,
  LogPage,
  LogRecord,
  LogStatistics,
  Order,
  PageRequest,
  Selection,
  Total,
} from '../../log-store.ts';
import { newStoreTimeout, newStoreUnavailable } from '../../store-errors.ts';
import { Turns } from '../../turns.ts';
import { BucketCounts } from './bucket-counts.ts';
import { asStoreError, deadlineOf, STORE } from './call-bounds.ts';
import { Export } from './export.ts';
import { FollowQuota } from './follow-quota.ts';
import { Follower, type FollowerOptions } from './follower.ts';
import { LineCounts } from './line-counts.ts';
import { beginOf, type LineFilter, lineFilter } from './line-filter.ts';
import { LogReader } from './log-reader.ts';
import type { LogFailureKind } from './log-request.ts';
import type { LogSource } from './log-source.ts';
import { PageBuilder, wantedBetween } from './page.ts';
import { PodDirectory } from './pod-directory.ts';
import { ReadSlots } from './read-slots.ts';
import { checkAccess } from './self-check.ts';
import { Shortfalls } from './shortfalls.ts';
import { chooseSources } from './source-selection.ts';
import { survey, type Tally } from './survey.ts';

/** `logging.kubernetes` of the configuration. */
export interface KubernetesLimits {
  readonly maxContainers: number;
  readonly concurrentReads: number;
  readonly followedLogs: number;
  /** Bytes. */
  readonly bytesPerContainer: number;
  /** Bytes, of lines that are held for one query. */
  readonly memory: number;
}

export interface KubernetesLogStoreOptions {
  readonly client: ClusterClient;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  readonly limits: KubernetesLimits;
  /** How long pods are followed after the last question, in ms. */
  readonly idleMs?: number;
  /** How long a kubelet may be silent while it is read, in ms. */
  readonly kubeletTimeoutMs?: number;
  readonly followTuning?: FollowerOptions['tuning'];
}

export class KubernetesLogStore implements LogBackend {
  readonly #options: KubernetesLogStoreOptions;
  readonly #directory: PodDirectory;
  readonly #reader: LogReader;
  readonly #quota: FollowQuota;

  constructor(options: KubernetesLogStoreOptions) {
    const { client, log, limits, idleMs, kubeletTimeoutMs } = options;
    this.#options = options;
    this.#directory = new PodDirectory({ client, log, ...(idleMs === undefined ? {} : { idleMs }) });
    this.#quota = new FollowQuota(limits);
    this.#reader = new LogReader({
      client,
      slots: new ReadSlots(limits.concurrentReads),
      turns: new Turns(new Pacer()),
      ...(kubeletTimeoutMs === undefined ? {} : { idleMs: kubeletTimeoutMs }),
    });
  }

  async query(selection: Selection, page: PageRequest, call: Call): Promise<LogPage> {
    const filter = lineFilter(selection);
    return this.#overPods(selection, call, async (pass) => {
      const builder = new PageBuilder(pass.sources, page, this.#options.limits.memory);
      await pass.read((source, rank) => builder.tally(rank, pass.wanted(source, filter)));
      if (builder.cut) pass.shortfalls.pageCut();
      const { count, records, next } = builder.page();
      return { total: totalOf(count, pass.shortfalls), records, next, shortfalls: pass.shortfalls.list() };
    });
  }

  async statistics(selection: Selection, call: Call): Promise<LogStatistics> {
    const filter = lineFilter(selection);
    return this.#overPods(selection, call, async (pass) => {
      const counts = new LineCounts();
      await pass.read((source) => counts.tally(source, pass.wanted(source, filter)));
      return {
        logs: totalOf(counts.logs, pass.shortfalls),
        containers: counts.containers,
        containersApproximate: false,
        shortfalls: pass.shortfalls.list(),
      };
    });
  }

  async histogram(selection: Selection, buckets: Buckets, call: Call): Promise<LogHistogram> {
    const filter = lineFilter(selection);
    return this.#overPods(selection, call, async (pass) => {
      const all = new BucketCounts(buckets);
      await pass.read((source) => all.tally(pass.wanted(source, filter)));
      return {
        total: totalOf(all.total, pass.shortfalls),
        counts: all.counts,
        shortfalls: pass.shortfalls.list(),
      };
    });
  }

  async *export(
    selection: Selection,
    order: Order,
    call: Call,
  ): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
    const filter = lineFilter(selection);
    const { limits } = this.#options;
    const deadline = deadlineOf(call);
    try {
      using opened = await this.#pods(deadline, call.signal);
      const { sources, leftOut } = await chooseSources(opened.pods, selection, limits.maxContainers);
      return yield* new Export({
        reader: this.#reader,
        sources,
        beginOf: beginOf(selection),
        end: selection.range.end,
        filter,
        order,
        memory: limits.memory,
        parallel: limits.concurrentReads,
        deadline,
        signal: call.signal,
        shortfalls: new Shortfalls(leftOut),
        onFailure: (...failure) => this.#unread(...failure),
      }).records();
    } catch (error) {
      throw asStoreError(error);
    }
  }

  async *follow(
    selection: Selection,
    { signal }: Pick<Call, 'signal'>,
  ): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { client, limits, followTuning } = this.#options;
    try {
      using opened = await this.#pods(signal, signal);
      yield* new Follower({
        client,
        reader: this.#reader,
        pods: opened.pods,
        selection,
        quota: this.#quota,
        memory: limits.memory,
        onFailure: (source, { kind, cause }) => this.#unread(source, kind, cause),
        ...(followTuning ? { tuning: followTuning } : {}),
      }).records(signal);
    } catch (error) {
      if (!signal.aborted) throw asStoreError(error);
    }
  }

  async check({ signal, timeoutMs }: Call): Promise<void> {
    await checkAccess(this.#options.client, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#directory.run(signal);
  }

  /** Finds the logs of the selection and lets `answer` read them. Throws only what stores may throw. */
  async #overPods<Answer>(
    selection: Selection,
    call: Call,
    answer: (pass: Pass) => Promise<Answer>,
  ): Promise<Answer> {
    const { signal } = call;
    const deadline = deadlineOf(call);
    const { limits } = this.#options;
    try {
      using opened = await this.#pods(deadline, signal);
      const { sources, leftOut } = await chooseSources(opened.pods, selection, limits.maxContainers);
      const shortfalls = new Shortfalls(leftOut);
      const begin = beginOf(selection);
      const end = selection.range.end;
      return await answer({
        sources,
        shortfalls,
        wanted: (source, filter) => wantedBetween(begin(source.namespace), end, filter),
        read: (tally) =>
          survey({
            reader: this.#reader,
            sources,
            beginOf: begin,
            end,
            bytesPerContainer: limits.bytesPerContainer,
            parallel: limits.concurrentReads,
            deadline,
            signal,
            shortfalls,
            onFailure: (...failure) => this.#unread(...failure),
            tally,
          }),
      });
    } catch (error) {
      throw asStoreError(error);
    }
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

/** One reading of all logs of a selection. */
interface Pass {
  readonly sources: readonly LogSource[];
  readonly shortfalls: Shortfalls;
  wanted(source: LogSource, filter: LineFilter): (time: string, text: string) => boolean;
  read(tally: (source: LogSource, rank: number) => Tally): Promise<void>;
}

/** What is not covered might hold more lines. */
function totalOf(count: number, shortfalls: Shortfalls): Total {
  return { count, relation: shortfalls.list().length > 0 ? 'gte' : 'eq' };
}
