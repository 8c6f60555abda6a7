// Follows one container through whatever happens to its log: a stream that ends or falls silent, a new file, a restart,
// the end of the container. No line is given twice, and none is lost that the kubelet still has.
import type { ClusterClient } from '../../../../cluster/connection/client.ts';
import { Backoff } from '../../../../concurrency/backoff.ts';
import { pause } from '../../../../concurrency/pause.ts';
import { BEGINNING, millisecondsOf } from '../../../instant.ts';
import type { Instant, LogRecord } from '../../../log-store.ts';
import type { LogSource } from '../pods/log-source.ts';
import type { LineFilter } from '../reading/line-filter.ts';
import { newExtent } from '../reading/line-reader.ts';
import { KubeletRemark, type LogReader } from '../reading/log-reader.ts';
import { LogFailure, openLog } from '../reading/log-request.ts';
import type { MemoryShare } from '../reading/memory-budget.ts';
import { GivenLines } from './given-lines.ts';
import type { Progress } from './low-watermark.ts';
import { NewLines } from './new-lines.ts';

/** All in ms. */
export interface TailTuning {
  /** A stream that has been silent for so long is replaced. */
  readonly silenceMs?: number;
  /** How long kube-apiserver may be out of reach. */
  readonly patienceMs?: number;
  readonly initialBackoffMs?: number;
  /** How long a stream is read on after its pod has gone. */
  readonly lastWordsMs?: number;
}

export interface ContainerTailOptions extends TailTuning {
  readonly client: ClusterClient;
  readonly reader: LogReader;
  /** The logs of the container as they are known now, the earlier run first; undefined when the pod is gone. */
  readonly sources: () => readonly LogSource[] | undefined;
  /** Resolves when the pod has changed, or the signal is aborted. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
  readonly begin: Instant;
  readonly filter: LineFilter;
  /** What the next lines have to wait for, if for anything. */
  readonly room: () => Promise<void> | undefined;
  readonly give: (records: readonly LogRecord[]) => void;
  /** Of its backlog, the lines that were there when the live tail began; undefined where there is none. */
  readonly progress: Progress | undefined;
  /** For a line that has not ended; one for each stream. */
  readonly unfinished: () => MemoryShare;
  readonly onFailure: (source: LogSource, failure: LogFailure) => void;
}

const SILENCE_MS = 300_000;
/** The same of a container that has ended. */
const ENDED_SILENCE_MS = 10_000;
/** The same of a backlog, which others wait for; and how long its reading may fail. */
const AWAITED_SILENCE_MS = 3_000;
const PATIENCE_MS = 60_000;
const MAX_BACKOFF_MS = 5_000;
/** How long the last lines of a deleted pod may still be under way. */
const LAST_WORDS_MS = 2_000;

export class ContainerTail {
  readonly #options: ContainerTailOptions;
  readonly #given = new GivenLines();
  readonly #backoff: Backoff;
  /** The last two runs that were read to their end. */
  readonly #finished: string[] = [];
  /** A run of which the rest is to be read, and what was given of it. */
  #interrupted: { readonly key: string; readonly given: GivenLines } | undefined;
  #outOfReachSince: number | undefined;
  #failingSince: number | undefined;
  /** Until the backlog has been read; without following, since only such a stream tells where it ends. */
  #progress: Progress | undefined;

  constructor(options: ContainerTailOptions) {
    this.#options = options;
    this.#progress = options.progress;
    this.#backoff = new Backoff({
      initialMs: options.initialBackoffMs ?? 200,
      maxMs: MAX_BACKOFF_MS,
      random: Math.random,
    });
  }

  /** Ends when the pod is gone or the signal is aborted. Throws LogFailure when retrying is useless. */
  async run(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const gone = this.#endWithPod(over);
    try {
      await this.#rounds(AbortSignal.any([signal, over.signal]));
    } finally {
      this.#endProgress();
      over.abort();
      await gone;
    }
  }

  /** The stream need not end with the pod: its node may be gone too. */
  async #endWithPod(over: AbortController): Promise<void> {
    const { signal } = over;
    const { changed, sources, lastWordsMs = LAST_WORDS_MS } = this.#options;
    while (!signal.aborted && sources()) await changed(signal);
    await pause(lastWordsMs, signal);
    over.abort();
  }

  async #rounds(signal: AbortSignal): Promise<void> {
    for (let there = true; there && !signal.aborted; ) {
      const round = new AbortController();
      // A change while we read must not be missed.
      const changed = this.#options.changed(AbortSignal.any([signal, round.signal]));
      try {
        there = await this.#round(changed, signal);
      } finally {
        round.abort();
      }
    }
  }

  /** False when the pod is gone. */
  async #round(changed: Promise<void>, signal: AbortSignal): Promise<boolean> {
    const sources = this.#options.sources();
    if (!sources) return false;
    const next = sources.find((source) => !this.#finished.includes(keyOf(source)));
    if (!next) {
      this.#endProgress();
      await changed;
      return true;
    }
    const before = this.#given.since;
    const isAwaited = this.#progress !== undefined;
    const failure = await this.#read(next, signal);
    if (failure && failure.kind !== 'empty' && failure.kind !== 'gone') {
      this.#judge(next, failure);
    } else {
      this.#outOfReachSince = undefined;
      if (!next.running) {
        this.#finish(next);
        return true;
      }
      if (failure) this.#endProgress();
    }
    if (isAwaited && !this.#progress) return true;
    if (this.#given.since !== before) {
      // One that has the lines, but says that it can follow no more logs, would read the whole log at each new line.
      if (!(failure?.cause instanceof KubeletRemark)) this.#backoff.reset();
      this.#failingSince = undefined;
    }
    await Promise.race([changed, pause(this.#backoff.next(), signal)]);
    return true;
  }

  async #read(source: LogSource, signal: AbortSignal): Promise<LogFailure | undefined> {
    const { client, reader, begin, room, filter, give } = this.#options;
    const { running } = source;
    const follow = running && !this.#progress;
    const idleMs = this.#silenceMs(follow);
    const given = this.#givenOf(source);
    const before = given.copy();
    const since = given.since ?? (begin === BEGINNING ? undefined : begin);
    const reached = (time: Instant): void => this.#progress?.reached(time);
    const lines = new NewLines({ source, begin, given, filter, give, reached });
    given.reopened();
    const end = new AbortController();
    using unfinished = this.#options.unfinished();
    const stop = AbortSignal.any([signal, end.signal]);
    const goesOn = running && !follow;
    const { flush } = lines;
    const bounds = { signal: stop, idleMs, room, flush, ended: !running, goesOn, unfinished };
    const outlasting =
      running && this.#outlasts(source, bounds.signal).then((is) => is && end.abort(OUTLASTED));
    try {
      // It runs at the pace of its reader, so it must not take a slot from queries: not even for a container that has
      // ended.
      const request = { source, since, follow, signal: bounds.signal, timeoutMs: idleMs };
      await reader.consume(await openLog(client, request), bounds, lines.take, newExtent());
      if (running) this.#endProgress();
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error === OUTLASTED) {
        if (this.#isOfNextRun(lines.first)) this.#interrupted = { key: keyOf(source), given: before };
        return undefined;
      }
      if (error instanceof LogFailure) return error;
      throw error;
    } finally {
      end.abort();
      await outlasting;
    }
  }

  #silenceMs(follow: boolean): number {
    const { silenceMs = SILENCE_MS } = this.#options;
    if (follow) return silenceMs;
    // Who has nothing more to write is not silent.
    return Math.min(silenceMs, this.#progress ? AWAITED_SILENCE_MS : ENDED_SILENCE_MS);
  }

  #givenOf(source: LogSource): GivenLines {
    return this.#interrupted?.key === keyOf(source) ? this.#interrupted.given : this.#given;
  }

  /**
   * Whether the stream of a run goes on although the run has ended: then it may be that of the next one, which had
   * begun before the cluster told of it. Resolves when that is known, or the signal is aborted.
   */
  async #outlasts(source: LogSource, signal: AbortSignal): Promise<boolean> {
    const { changed, sources, lastWordsMs = LAST_WORDS_MS } = this.#options;
    const isRunning = (): boolean =>
      sources()?.some((other) => other.running && keyOf(other) === keyOf(source)) ?? true;
    while (!signal.aborted && isRunning()) await changed(signal);
    await pause(lastWordsMs, signal);
    return !signal.aborted;
  }

  /** `first`: the time of the first line of a stream. */
  #isOfNextRun(first: Instant | undefined): boolean {
    const startedAt = this.#options.sources()?.at(-1)?.run.startedAt;
    return first !== undefined && startedAt !== undefined && millisecondsOf(first) >= startedAt;
  }

  #endProgress(): void {
    this.#progress?.end();
    this.#progress = undefined;
  }

  #finish(source: LogSource): void {
    this.#finished.push(keyOf(source));
    if (this.#finished.length > 2) this.#finished.shift();
  }

  #judge(source: LogSource, failure: LogFailure): void {
    const { onFailure, patienceMs = PATIENCE_MS } = this.#options;
    onFailure(source, failure);
    if (failure.kind === 'refused') throw failure;
    this.#failingSince ??= performance.now();
    const failingMs = performance.now() - this.#failingSince;
    if (failure.kind === 'silent' || failingMs > AWAITED_SILENCE_MS) this.#endProgress();
    if (failure.kind !== 'unreachable') {
      this.#outOfReachSince = undefined;
      return;
    }
    this.#outOfReachSince ??= performance.now();
    if (performance.now() - this.#outOfReachSince > patienceMs) throw failure;
  }
}

/** Ends the reading of a stream that goes on although its run has ended. */
const OUTLASTED = new DOMException('the run has ended', 'AbortError');

function keyOf({ run, previous }: LogSource): string {
  return run.id || String(run.startedAt ?? previous);
}
