import { formatElapsed, type Progress } from '../terminal/progress.ts';

/** Does one step of the set-up and says what it is, how long it takes, and that it is done. */
export type Steps = <T>(what: string, work: (progress: Progress) => Promise<T>) => Promise<T>;

const TICK_MS = 1_000;

/** When the work reports its own progress, the step prints none. */
export function stepsWith(progress: Progress): Steps {
  return async (what, work) => {
    const began = Date.now();
    const elapsed = (): string => formatElapsed(Date.now() - began);
    let silent = true;
    const ticker = setInterval(() => {
      if (silent) progress(`${what} (${elapsed()})`, true);
      silent = true;
    }, TICK_MS);
    try {
      const result = await work((line, transient) => {
        silent = false;
        progress(line, transient);
      });
      progress(`${what}: done in ${elapsed()}`);
      return result;
    } finally {
      clearInterval(ticker);
    }
  };
}
