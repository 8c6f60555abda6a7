// Follower of the log of one container, through restarts, until the pod is deleted. It delivers each line that the
// kubelet still has exactly once.
import { Backoff } from '../../../concurrency/backoff.ts';
import { pause } from '../../../concurrency/pause.ts';
import { BEGINNING, instantOf, millisecondsOf } from '../../store/instant.ts';
import type { Instant, LogRecord } from '../../store/log-store.ts';
import { OverlapWindow } from '../../store/overlap-window.ts';
import { CLOCK_SLACK_MS, type ContainerLog } from './container-log.ts';
import type { Backlog } from './follow-queue.ts';
import { KubeletError } from './kubelet-error.ts';
import { DISORDER_S } from './kubelet-time.ts';
import { ifAccepted, type LineFilter } from './line-filter.ts';
import type { MemoryBudget } from './line-memory.ts';
import type { OnLine } from './line-reader.ts';
import { detached } from './log-line.ts';
import type { LogReader } from './log-reader.ts';
import { LogReadError } from './log-request.ts';

/** Time limits of a follower, in ms. */
export interface FollowTuning {
  /** Time without data after which a stream is reopened. */
  readonly silenceMs?: number;
  /** Time after which an unreachable kube-apiserver ends the live tail. */
  readonly patienceMs?: number;
  readonly initialBackoffMs?: number;
}

interface ContainerFollowerOptions extends FollowTuning {
  readonly reader: LogReader;
  /** A pod of the same name that replaces the pod has a follower of its own. */
  readonly podUID: string;
  /** The current logs of the container, the previous run first; undefined after the pod is deleted. */
  readonly logs: () => readonly ContainerLog[] | undefined;
  /** Resolves when the pod changes or the signal is aborted. */
  readonly podChanged: (signal: AbortSignal) => Promise<void>;
  readonly begin: Instant;
  readonly filter: LineFilter;
  /** Backpressure: a promise to await before more lines are read; undefined if the queue has capacity. */
  readonly room: () => Promise<void> | undefined;
  readonly deliver: (records: readonly LogRecord[]) => void;
  /** Progress of reading the lines that exist when the live tail begins; undefined if no other log waits for them. */
  readonly backlog: Backlog | undefined;
  /** Memory of the incomplete line of a stream. */
  readonly budget: MemoryBudget;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
}

const SILENCE_MS = 300_000;
/** Timeout without data of requests for the log of a terminated container. */
const ENDED_SILENCE_MS = 10_000;
/** Time without data, or of failed requests, after which other logs no longer wait for a backlog. */
const BACKLOG_SILENCE_MS = 3_000;
const PATIENCE_MS = 60_000;
const MAX_BACKOFF_MS = 5_000;
/** Maximum number of different lines that are deduplicated when a stream is reopened: usually those of the last three seconds. */
const MAX_DIGESTS = 20_000;

export class ContainerFollower {
  readonly #options: ContainerFollowerOptions;
  readonly #delivered: OverlapWindow;
  readonly #backoff: Backoff;
  /** Keys of the last two runs of the container that were read to the end. */
  readonly #finished: string[] = [];
  /** Start of a reopened stream, in ms; a whole second after the first lines. */
  #start: number;
  /** Number of lines that the kubelet returned for the first time. */
  #received = 0;
  #unreachableSince: number | undefined;
  #failingSince: number | undefined;
  /** Undefined after the backlog is read. It is requested without `follow`, because only such a response ends. */
  #backlog: Backlog | undefined;

  constructor(options: ContainerFollowerOptions) {
    const { initialBackoffMs: initialMs = 200, begin, backlog, wallClock } = options;
    this.#options = options;
    this.#backlog = backlog;
    this.#start = millisecondsOf(begin);
    this.#delivered = new OverlapWindow({ limit: MAX_DIGESTS, wallClock });
    this.#backoff = new Backoff({ initialMs, maxMs: MAX_BACKOFF_MS, random: Math.random });
  }

  /**
   * Follows until the pod is deleted or the signal is aborted. Throws LogReadError for an error that retries cannot
   * solve.
   */
  async run(signal: AbortSignal): Promise<void> {
    try {
      for (let exists = true; exists && !signal.aborted; ) {
        const attempt = new AbortController();
        // Subscribes before it reads the log, so that no change is missed.
        const changed = this.#options.podChanged(AbortSignal.any([signal, attempt.signal]));
        exists = await this.#attempt(changed, signal).finally(() => attempt.abort());
      }
    } finally {
      this.#endBacklog();
    }
  }

  /** Reads the next unfinished log, then waits for a change or the backoff. Returns false after the pod is deleted. */
  async #attempt(changed: Promise<void>, signal: AbortSignal): Promise<boolean> {
    const logs = this.#options.logs();
    if (!logs) return false;
    const log = logs.find((one) => !this.#finished.includes(keyOf(one)));
    if (!log) {
      this.#endBacklog();
      await changed;
      return true;
    }
    const [before, hadBacklog] = [this.#received, this.#backlog !== undefined];
    const error = await this.#read(log, signal);
    if (error && error.kind !== 'empty' && error.kind !== 'gone') {
      this.#onError(error);
    } else {
      this.#unreachableSince = undefined;
      if (!log.running) {
        this.#finished.push(keyOf(log));
        if (this.#finished.length > 2) this.#finished.shift();
        return true;
      }
      if (error) this.#endBacklog();
    }
    if (hadBacklog && !this.#backlog) return true;
    if (this.#received > before) {
      // No reset if the kubelet returns lines and then an error: it would read the whole log for each new line.
      if (!(error?.cause instanceof KubeletError)) this.#backoff.reset();
      this.#failingSince = undefined;
    }
    await Promise.race([changed, pause(this.#backoff.next(), signal)]);
    return true;
  }

  async #read(log: ContainerLog, signal: AbortSignal): Promise<LogReadError | undefined> {
    const { reader, podUID, begin, room, budget } = this.#options;
    const follow = log.running && !this.#backlog;
    const lastLine = !log.running ? 'confirmed' : follow ? undefined : 'ignored';
    const from = this.#delivered.startRead(this.#start);
    const since = begin === BEGINNING && from === 0 ? undefined : instantOf(from);
    const timeoutMs = this.#silenceMs(follow);
    const { onLine, flush } = this.#newLines(log);
    using memory = budget.share();
    try {
      const request = { podUID, since, follow, signal, timeoutMs, room, flush, lastLine, memory } as const;
      await reader.stream(log, request, onLine);
      if (log.running) this.#endBacklog();
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error instanceof LogReadError) return error;
      throw error;
    }
  }

  /** Callbacks of the reader that deliver the lines of each chunk, without lines that were delivered before. */
  #newLines(log: ContainerLog): { readonly onLine: OnLine; readonly flush: () => void } {
    const { begin, filter, deliver } = this.#options;
    const { namespace, pod, container } = log;
    let records: LogRecord[] = [];
    let last: Instant = '';
    const onLine: OnLine = (time, text) => {
      const milliseconds = millisecondsOf(time);
      if (time < begin || !this.#delivered.isNew(`${time} ${text}`, milliseconds)) return;
      if (time > last) last = time;
      this.#received++;
      this.#advance(milliseconds);
      return ifAccepted(filter(text), () => {
        records.push({ time: detached(time), log: detached(text), namespace, pod, container });
      });
    };
    const flush = (): void => {
      if (records.length > 0) deliver(records);
      records = [];
      last = detached(last);
      this.#backlog?.reached(last);
    };
    return { onLine, flush };
  }

  /**
   * Moves the start behind a line. Later lines can be out of order. A time in the future can come from a clock that is
   * ahead, or from the application, so it says nothing about the present.
   */
  #advance(milliseconds: number): void {
    const now = this.#options.wallClock();
    const reached = milliseconds <= now ? milliseconds : now - CLOCK_SLACK_MS;
    const start = (Math.floor(reached / 1000) - DISORDER_S) * 1000;
    if (start <= this.#start) return;
    this.#start = start;
    this.#delivered.forgetBefore(start);
  }

  #silenceMs(follow: boolean): number {
    const { silenceMs = SILENCE_MS } = this.#options;
    if (follow) return silenceMs;
    return Math.min(silenceMs, this.#backlog ? BACKLOG_SILENCE_MS : ENDED_SILENCE_MS);
  }

  #endBacklog(): void {
    this.#backlog?.end();
    this.#backlog = undefined;
  }

  /** Throws the error if retries cannot solve it. */
  #onError(error: LogReadError): void {
    const { patienceMs = PATIENCE_MS } = this.#options;
    if (error.kind === 'forbidden') throw error;
    const now = performance.now();
    this.#failingSince ??= now;
    if (error.kind === 'silent' || now - this.#failingSince > BACKLOG_SILENCE_MS) this.#endBacklog();
    if (error.kind === 'unreachable') this.#unreachableSince ??= now;
    else this.#unreachableSince = undefined;
    if (now - (this.#unreachableSince ?? now) > patienceMs) throw error;
  }
}

function keyOf({ run, previous }: ContainerLog): string {
  return run.id || String(run.startedAt ?? previous);
}
