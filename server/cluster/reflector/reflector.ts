// Reflector: lists and watches one resource of kube-apiserver, and writes the changes to a store (sink). A reflector
// retries after every failure.
import type { Logger } from 'pino';
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { recordIn } from '../../../apis/reading/unknown-value.ts';
import { pause } from '../../concurrency/pause.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import type { ClusterClient } from '../connection/client.ts';
import { StalledError } from '../connection/response-body.ts';
import { listPages } from './paged-list.ts';
import {
  causeOf,
  guardSink,
  isHistoryGone,
  isHistoryLost,
  isStreamRefused,
  isWatchCacheBehind,
  ReflectorBackoff,
  SinkError,
  VersionRegressionError,
} from './reflector-retry.ts';
import type { ReflectorSink, Replacement } from './reflector-sink.ts';
import { DEFAULT_TUNING, type ReflectorTuning } from './reflector-tuning.ts';
import { eventMetadata, type StreamedEvent, streamedList, watchStream } from './watch-stream.ts';

/** Progress of a reflector, for metrics and for the freshness of its sink. */
export interface ReflectorObserver {
  listed?(way: 'stream' | 'pages', seconds: number): void;
  /** The response headers of a watch from the sink's resourceVersion have arrived: the cluster accepts the watch. */
  watchBegan?(): void;
  /** A watch ended: `cause` is `end`, `expired`, `stalled`, `backwards` or `error`. */
  watchEnded?(cause: string): void;
  /** An attempt failed; the reflector retries. */
  failed?(error: unknown): void;
  /** The sink contains all changes up to this resourceVersion. */
  progressed?(resourceVersion: string): void;
}

export interface ReflectorOptions {
  readonly client: ClusterClient;
  /** For instance `/api/v1/nodes`. */
  readonly path: string;
  /** Selectors, for instance `{fieldSelector: 'metadata.name=x'}`. */
  readonly query?: Readonly<Record<string, string>>;
  readonly sink: ReflectorSink;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  readonly observer?: ReflectorObserver;
  readonly tuning?: Partial<ReflectorTuning>;
}

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

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#tuning = { ...DEFAULT_TUNING, ...options.tuning };
    this.#pageSize = this.#tuning.pageSize;
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
    if (this.#resourceVersion !== undefined) {
      const { client, path, query = {} } = this.#options;
      await checkHistory(client, { path, query, ours: this.#resourceVersion, signal });
      await this.#consume(this.#resume(this.#resourceVersion, signal));
    } else if (this.#truncatedStreams < STREAM_ATTEMPTS) {
      await this.#streamingList(signal).catch((error: unknown) => {
        if (!isStreamRefused(error) && !isWatchCacheBehind(error)) throw error;
        this.#options.log.debug(
          { path: this.#options.path, err: error },
          'the cluster rejects the streaming list; listing pages',
        );
        return this.#pagedList(signal);
      });
    } else {
      this.#truncatedStreams = 0;
      await this.#pagedList(signal);
    }
  }

  /** Clears the resourceVersion if the next attempt must relist, and logs the failure. */
  #recover(failure: unknown, waitMs: number): void {
    const { log, path, observer } = this.#options;
    if (isHistoryLost(failure) || failure instanceof SinkError) this.#resourceVersion = undefined;
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
    return this.#failures.isNews(messageOf(failure)) ? 'warn' : 'debug';
  }

  async #streamingList(signal: AbortSignal): Promise<void> {
    const began = performance.now();
    const events = this.#watch({ sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }, signal);
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

  async #pagedList(signal: AbortSignal): Promise<void> {
    const began = performance.now();
    const replacement = this.#options.sink.replacement();
    let objects = 0;
    const { client, path, query } = this.#options;
    const { stallMs: idleMs, objectLimit: itemLimit } = this.#tuning;
    // If the list expires between two pages, the next list has one page.
    const limit = this.#pageSize;
    this.#pageSize = 0;
    const resourceVersion = await listPages(
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
    this.#commit(replacement, resourceVersion, { way: 'pages', began, objects });
    await this.#consume(this.#resume(resourceVersion, signal));
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
    const { sink, observer, log, path } = this.#options;
    for await (const { type, object, members } of events) {
      if (this.#failures.count > 0)
        log.info({ path, failures: this.#failures.end() }, 'reflector watches again');
      const metadata = eventMetadata(object, members);
      const { resourceVersion } = metadata;
      const ours = this.#resourceVersion ?? '0';
      const backwards = BigInt(resourceVersion) < BigInt(ours);
      if (backwards) throw new VersionRegressionError(ours, resourceVersion);
      guardSink(() => {
        if (type === 'BOOKMARK') sink.bookmark(resourceVersion);
        else sink.apply(type, object, metadata, members);
      });
      this.#resourceVersion = resourceVersion;
      observer?.progressed?.(resourceVersion);
    }
  }

  #resume(resourceVersion: string, signal: AbortSignal): AsyncGenerator<StreamedEvent> {
    return this.#watch({ resourceVersion }, signal, () => this.#options.observer?.watchBegan?.());
  }

  #watch(
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
    began?: () => void,
  ): AsyncGenerator<StreamedEvent> {
    const { stallMs: idleMs, objectLimit: lineLimit, watchMs, random } = this.#tuning;
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

export interface SinkState {
  /** For instance `/api/v1/nodes`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The resourceVersion of the sink. */
  readonly ours: string;
  readonly signal: AbortSignal;
}

/**
 * Throws VersionRegressionError if the cluster's resourceVersion is lower than the sink's. This happens after a
 * restore from a backup, which has a different history. A resume needs this check, because kube-apiserver accepts a
 * watch from a future resourceVersion and sends no events.
 */
export async function checkHistory(
  client: ClusterClient,
  { path, query, ours, signal }: SinkState,
): Promise<void> {
  const parameters = new URLSearchParams({ ...query, limit: '1' });
  const list = await client.json({
    path: `${path}?${parameters.toString()}`,
    headers: {
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    },
    signal,
  });
  const theirs = recordIn(list, 'metadata')['resourceVersion'];
  if (typeof theirs === 'string' && BigInt(theirs) < BigInt(ours))
    throw new VersionRegressionError(ours, theirs);
}
