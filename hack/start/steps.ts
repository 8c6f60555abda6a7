// Reports the progress of the setup steps of `npm start`.
import { formatElapsed, type Progress } from '../terminal/progress.ts';

/** Runs one step of the setup and reports its name, its duration and its completion. */
export type Steps = <T>(what: string, work: (progress: Progress) => Promise<T>) => Promise<T>;

const TICK_MS = 1_000;

/** A step prints no progress while the work reports its own. */
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
