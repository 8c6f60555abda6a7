// Lines whose look takes longer than others may wait for it: of a MiB, the words take a third of a second, and what some
// patterns ask for twice as much. Another thread looks at them, one after the other.
import { Tinypool } from 'tinypool';
import type { TextFilter } from '../log-store.ts';

export interface LongLine {
  readonly text: TextFilter;
  readonly line: string;
}

/** Of the thread, which takes some MB, behind the last long line. */
const IDLE_MS = 30_000;

export class LongLines {
  #pool: Tinypool | undefined;

  /** Whether the line says what the text asks for. Rejects with the signal's reason, and ends the look, when it is aborted. */
  async matches(text: TextFilter, line: string, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    this.#pool ??= newPool();
    const task: LongLine = { text, line };
    try {
      return (await this.#pool.run(task, { signal })) === true;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  /** Rejects what waits. */
  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.destroy();
  }
}

function newPool(): Tinypool {
  const filename = new URL('long-line-thread.ts', import.meta.url).href;
  // What the process was told to load at its start is not for the thread.
  return new Tinypool({ filename, minThreads: 0, maxThreads: 1, idleTimeout: IDLE_MS, execArgv: [] });
}
