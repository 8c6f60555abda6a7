// Lines whose look takes longer than others may wait for it: of a MiB, the words take a fifth of a second, and what some
// patterns ask for half of one. Another thread looks at them, one after the other.
import type { Logger } from 'pino';
import { Tinypool } from 'tinypool';
import { Slots } from '../../concurrency/slots.ts';
import type { TextFilter } from '../log-store.ts';

export interface LongLine {
  readonly text: TextFilter;
  readonly line: string;
}

/** Of the thread, which takes some MB, behind the last long line. */
const IDLE_MS = 30_000;

/** A line with its words takes some 60 MB; with more than this the thread ends, and not the process. */
const MAX_HEAP_MB = 256;

export interface LongLinesOptions {
  readonly log: Pick<Logger, 'warn'>;
  /** The module of the thread, if it is another one. */
  readonly thread?: URL;
}

export class LongLines {
  readonly #options: LongLinesOptions;
  /** Nothing waits in the pool, which forgets it when a thread fails. */
  readonly #slot = new Slots(1);
  #pool: Tinypool | undefined;

  constructor(options: LongLinesOptions) {
    this.#options = options;
  }

  /**
   * Whether the line says what the text asks for. Rejects with the signal's reason, and ends the look, when it is aborted;
   * with an Error when the thread fails. Callers have their lines looked at in turns.
   */
  async matches(text: TextFilter, line: string, signal: AbortSignal, caller?: string): Promise<boolean> {
    using _slot = await this.#slot.take(signal, caller);
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

  /** Ends the thread; what it looks at then is rejected. */
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
    // What the process was told to load at its start is not for the thread.
    execArgv: [],
  });
  // Of a thread that has nothing to do: nobody else would hear of it, and an error that nobody hears ends the process.
  pool.on('error', (error: unknown) => log.warn({ err: error }, 'the thread for long log lines has ended'));
  return pool;
}
