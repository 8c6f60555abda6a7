// Reflector: lists and watches one resource of kube-apiserver, and writes the changes to a store (sink). A reflector
// retries after every failure.
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { LineTooLongError } from '../../../apis/reading/line-splitter.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { pause } from '../../concurrency/pause.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import { StalledError } from '../../upstream/upstream-response.ts';
import { checkHistory } from './history-check.ts';
import { listPages } from './paged-list.ts';
import type { ReflectorOptions } from './reflector-options.ts';
import {
  causeOf,
  guardSink,
  isHistoryGone,
  isHistoryLost,
  isIncomparable,
  isStreamRefused,
  isWatchCacheBehind,
  ReflectorBackoff,
  SinkError,
  UnversionedError,
  VersionRegressionError,
} from './reflector-retry.ts';
import type { Replacement } from './reflector-sink.ts';
import { DEFAULT_TUNING, type ReflectorTuning } from './reflector-tuning.ts';
import { isComparable, isNewer } from './resource-version.ts';
import { eventMetadata, type StreamedEvent, streamedList, watchStream } from './watch-stream.ts';

interface CompleteList {
  readonly way: 'stream' | 'pages';
  /** Start of the list, on the clock of performance.now(). */
  readonly began: number;
  readonly objects: number;
}

/** Number of consecutive failed streaming lists after which the reflector requests a paged list. */
const STREAM_ATTEMPTS = 2;

export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #tuning: ReflectorTuning;
  readonly #backoff: ReflectorBackoff;
  readonly #failures = new RepeatedFailure();
  /** The resourceVersion of the sink, from which a watch resumes. Undefined if the next attempt must list. */
  #resourceVersion: string | undefined;
  #truncatedStreams = 0;
  #pageSize: number;
  /** Number of lists of an API that cannot be watched from its resourceVersion. */
  #polls = 0;
  /**
   * Whether watches end before the connection counts as broken, because they have no bookmarks: kube-apiserver has no watch
   * cache for events, and perhaps for no kind (`--watch-cache=false`).
   */
  #quiet: boolean;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#tuning = { ...DEFAULT_TUNING, ...options.tuning };
    this.#pageSize = this.#tuning.pageSize;
    this.#quiet = options.path.endsWith('/events');
    this.#backoff = new ReflectorBackoff(this.#tuning);
  }

  /** Runs until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const began = performance.now();
      let failure: unknown;
      try {
        await this.#follow(signal);
        this.#options.observer?.watchEnded?.('end');
      } catch (error) {
        failure = error;
      }
      if (signal.aborted) return;
      const waitMs = this.#backoff.after(failure, performance.now() - began);
      if (failure !== undefined) this.#recover(failure, waitMs);
      if (waitMs > 0) await pause(waitMs, signal);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    if (this.#options.aggregated) {
      await this.#followAggregated(signal);
    } else if (this.#resourceVersion !== undefined) {
      await this.#continue(this.#resourceVersion, signal);
    } else if (this.#truncatedStreams < STREAM_ATTEMPTS) {
      await this.#streamingList(signal).catch((error: unknown) => {
        if (!isStreamRefused(error) && !isWatchCacheBehind(error)) throw error;
        this.#options.log.debug(
          { path: this.#options.path, err: error },
          'the cluster rejects the streaming list; listing pages',
        );
        return this.#listAndWatch(signal);
      });
    } else {
      this.#truncatedStreams = 0;
      await this.#listAndWatch(signal);
    }
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    await this.#consume(this.#resume(await this.#pagedList(signal), signal));
  }

  /**
   * Resumes the watch. Without bookmarks, the resourceVersion of the sink expires when the kind does not change. So the
   * version before this watch replaces it, after a watch that kube-apiserver ended in order: it had the time to send
   * every earlier event. A stalled connection had not, and a watch with bookmarks reports its own version, which is lower
   * while the watch cache of kube-apiserver is behind.
   */
  async #continue(ours: string, signal: AbortSignal): Promise<void> {
    const { client, path, query = {} } = this.#options;
    const before = await checkHistory(client, { path, query, ours, signal });
    const began = performance.now();
    await this.#consume(this.#resume(ours, signal));
    const isComplete = this.#quiet && performance.now() - began >= this.#tuning.healthyMs;
    if (isComplete && isNewer(before, this.#resourceVersion ?? before)) this.#resourceVersion = before;
  }

  /**
   * Lists pages, and watches until the watch ends; then the next attempt lists again, because the history of the API is
   * unknown. If the watch ends or fails at once, the API is polled.
   */
  async #followAggregated(signal: AbortSignal): Promise<void> {
    const { log, path } = this.#options;
    const { healthyMs, pollMs } = this.#tuning;
    const version = await this.#pagedList(signal);
    if (this.#polls === 0) {
      const began = performance.now();
      const isHealthy = (): boolean => performance.now() - began >= healthyMs;
      try {
        await this.#consume(this.#resume(version, signal));
        if (isHealthy()) return;
      } catch (error) {
        signal.throwIfAborted();
        // No later watch can succeed.
        if (isIncomparable(error) || isStreamRefused(error)) this.#polls = 1;
        else if (isHealthy()) throw error;
        log.info({ path, reason: messageOf(error) }, 'the API cannot be watched, and is polled');
      } finally {
        this.#resourceVersion = undefined;
      }
    }
    await pause(pollMs, signal);
  }

  /** Clears the resourceVersion if the next attempt must relist, and logs the failure. */
  #recover(failure: unknown, waitMs: number): void {
    const { log, path, observer } = this.#options;
    if (isHistoryLost(failure) || failure instanceof SinkError) this.#resourceVersion = undefined;
    if (failure instanceof LineTooLongError) {
      // Only a paged list skips a large object.
      this.#resourceVersion = undefined;
      this.#truncatedStreams = STREAM_ATTEMPTS;
    }
    const cause = causeOf(failure);
    observer?.watchEnded?.(cause);
    observer?.failed?.(failure);
    const level = this.#levelOf(cause, failure);
    // The stack of a stalled stream has no information.
    const why = failure instanceof StalledError ? { reason: failure.message } : { err: failure };
    log[level](
      { path, cause, ...why, resourceVersion: this.#resourceVersion, retryMs: Math.round(waitMs) },
      this.#resourceVersion === undefined ? 'reflector relists' : 'reflector resumes its watch',
    );
  }

  /** Each reflector logs one warning per minute during an outage, in which it fails every few seconds. */
  #levelOf(cause: string, failure: unknown): 'debug' | 'info' | 'warn' {
    if (cause === 'expired' || cause === 'stalled') return 'info';
    // A missing permission is a state, which only an administrator changes. Its messages can differ each time.
    const reminderMs = cause === 'forbidden' ? Number.POSITIVE_INFINITY : this.#tuning.reminderMs;
    const what = cause === 'forbidden' ? cause : messageOf(failure);
    return this.#failures.isNews(what, reminderMs) ? 'warn' : 'debug';
  }

  async #streamingList(signal: AbortSignal): Promise<void> {
    const began = performance.now();
    const query = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' };
    const events = this.#watch(query, signal, () => this.#options.observer?.listBegan?.());
    try {
      const replacement = this.#options.sink.replacement();
      let objects = 0;
      const resourceVersion = await streamedList(events, (object, members) => {
        guardSink(() => replacement.add(object, members));
        objects++;
      });
      this.#commit(replacement, resourceVersion, { way: 'stream', began, objects });
      this.#truncatedStreams = 0;
      await this.#consume(events);
    } catch (error) {
      // A StatusError, for example of an unreachable cluster, does not mean that the list was truncated.
      if (this.#resourceVersion === undefined && !(error instanceof StatusError)) this.#truncatedStreams++;
      throw error;
    } finally {
      await events.return(undefined);
    }
  }

  /** Returns the resourceVersion of the sink. */
  async #pagedList(signal: AbortSignal): Promise<string> {
    const began = performance.now();
    const replacement = this.#options.sink.replacement();
    let objects = 0;
    const { client, path, query } = this.#options;
    const { stallMs: idleMs, objectLimit: itemLimit } = this.#tuning;
    // If the list expires between two pages, the next list has one page.
    const limit = this.#pageSize;
    this.#pageSize = 0;
    const listed = await listPages(
      client,
      { path, query: query ?? {}, limit, signal, idleMs, itemLimit },
      (object) => {
        guardSink(() => replacement.add(object));
        objects++;
      },
    ).catch((error: unknown) => {
      if (!isHistoryGone(error)) this.#pageSize = this.#tuning.pageSize;
      throw error;
    });
    this.#pageSize = this.#tuning.pageSize;
    if (!isComparable(listed.resourceVersion) && !this.#options.aggregated) {
      throw new SyntaxError('a list without resourceVersion');
    }
    const isPolled = this.#polls > 0 || !isComparable(listed.resourceVersion);
    const resourceVersion = isPolled ? String(++this.#polls) : listed.resourceVersion;
    if (listed.skipped > 0) {
      this.#options.log.warn({ path, skipped: listed.skipped }, 'objects that are too large are left out');
    }
    this.#commit(replacement, resourceVersion, { way: 'pages', began, objects });
    return resourceVersion;
  }

  #commit(to: Replacement, resourceVersion: string, { way, began, objects }: CompleteList): void {
    guardSink(() => to.commit(resourceVersion));
    this.#resourceVersion = resourceVersion;
    this.#failures.end();
    const seconds = (performance.now() - began) / 1000;
    const { observer, log, path } = this.#options;
    observer?.listed?.(way, seconds);
    observer?.progressed?.(resourceVersion);
    log.info(
      { path, way, objects, resourceVersion, seconds: Number(seconds.toFixed(3)) },
      'reflector listed',
    );
  }

  /** Applies events until the stream ends. */
  async #consume(events: AsyncGenerator<StreamedEvent>): Promise<void> {
    try {
      for await (const event of events) this.#apply(event);
    } catch (error) {
      if (error instanceof StalledError && error.hasHeaders) this.#quiet = true;
      throw error;
    }
  }

  #apply({ type, object, members }: StreamedEvent): void {
    const { sink, observer, log, path, aggregated } = this.#options;
    if (this.#failures.count > 0)
      log.info({ path, failures: this.#failures.end() }, 'reflector watches again');
    const metadata = eventMetadata(object, members);
    const { resourceVersion } = metadata;
    const ours = this.#resourceVersion ?? '0';
    if (isNewer(ours, resourceVersion)) throw new VersionRegressionError(ours, resourceVersion);
    // The resourceVersions of this API belong to single objects.
    if (aggregated && type !== 'BOOKMARK' && resourceVersion === ours) throw new UnversionedError();
    guardSink(() => {
      if (type === 'BOOKMARK') sink.bookmark(resourceVersion);
      else sink.apply(type, object, metadata, members);
    });
    if (type === 'BOOKMARK') this.#quiet = false;
    this.#resourceVersion = resourceVersion;
    observer?.progressed?.(resourceVersion);
  }

  #resume(resourceVersion: string, signal: AbortSignal): AsyncGenerator<StreamedEvent> {
    return this.#watch({ resourceVersion }, signal, () => this.#options.observer?.watchBegan?.());
  }

  #watch(
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
    began?: () => void,
  ): AsyncGenerator<StreamedEvent> {
    const { stallMs: idleMs, objectLimit: lineLimit, random } = this.#tuning;
    const watchMs = this.#quiet ? Math.min(this.#tuning.watchMs, idleMs / 3) : this.#tuning.watchMs;
    const timeoutSeconds = String(Math.max(1, Math.round((watchMs * (1 + random())) / 1000)));
    return watchStream(this.#options.client, {
      path: this.#options.path,
      query: { ...this.#options.query, ...query, timeoutSeconds },
      signal,
      idleMs,
      lineLimit,
      ...(began ? { began } : {}),
    });
  }
}
