// Matcher of long log lines in a worker thread. Regular expressions on long lines would block the event loop.
import type { Logger } from 'pino';
import { Tinypool } from 'tinypool';
import { Admission } from '../../admission/admission.ts';
import type { Seats } from '../../admission/seats.ts';
import type { TextFilter } from '../store/log-store.ts';

export interface LongLine {
  readonly text: TextFilter;
  readonly line: string;
}

/** Time after which the idle thread ends. */
const IDLE_MS = 30_000;
/** A larger heap ends the thread instead of the process. */
const MAX_HEAP_MB = 256;

export interface LongLinesOptions {
  readonly log: Pick<Logger, 'warn'>;
  /** Default: an Admission without metrics. */
  readonly admission?: Pick<Admission, 'pool'>;
  /** Module of the thread; long-line-thread.ts by default. */
  readonly thread?: URL;
}

/** A regular expression can take half a second for a line of 1 MiB. The thread matches one line at a time. */
export class LongLines {
  readonly #options: LongLinesOptions;
  /** The pool of threads loses queued tasks when a thread fails, so tasks wait for the one seat. */
  readonly #seats: Seats;
  #pool: Tinypool | undefined;

  constructor(options: LongLinesOptions) {
    this.#options = options;
    const { admission = new Admission() } = options;
    this.#seats = admission.pool('long-lines', { capacity: 1, sharing: 'queue' });
  }

  /**
   * Matches one line, with fair queuing among callers. Rejects with the signal's reason when it is aborted, which cancels
   * the match, and with an Error when the thread fails.
   */
  async matches(text: TextFilter, line: string, signal: AbortSignal, caller?: string): Promise<boolean> {
    using _seat = await this.#seats.take(caller ?? '', { signal });
    this.#pool ??= newPool(this.#options);
    const task: LongLine = { text, line };
    try {
      return (await this.#pool.run(task, { signal })) === true;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  of(caller: string | undefined): Pick<LongLines, 'matches'> {
    return { matches: (text, line, signal) => this.matches(text, line, signal, caller) };
  }

  /** Ends the thread and rejects its current match. */
  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.destroy();
  }
}

function newPool({
  log,
  thread = new URL('long-line-thread.ts', import.meta.url),
}: LongLinesOptions): Tinypool {
  const pool = new Tinypool({
    filename: thread.href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    // The thread does not load the preloaded modules of the process.
    execArgv: [],
  });
  // An error of an idle thread without a listener would end the process.
  pool.on('error', (error: unknown) =>
    log.warn({ err: error }, 'the worker thread for long log lines failed'),
  );
  return pool;
}
