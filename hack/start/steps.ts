// Reports the progress of the setup steps of `npm start`.
import { formatElapsed, type Progress, withElapsed } from '../terminal/progress.ts';

/** Runs one step of the setup and reports its name, its duration and its completion. */
export type Steps = <T>(what: string, work: (progress: Progress) => Promise<T>) => Promise<T>;

/** A step prints no progress while the work reports its own. */
export function stepsWith(progress: Progress): Steps {
  return async (what, work) => {
    const began = Date.now();
    let silent = true;
    const ifSilent: Progress = (line, transient) => {
      if (silent) progress(line, transient);
      silent = true;
    };
    const own: Progress = (line, transient) => {
      silent = false;
      progress(line, transient);
    };
    const result = await withElapsed(
      ifSilent,
      () => what,
      () => work(own),
    );
    progress(`${what}: done in ${formatElapsed(Date.now() - began)}`);
    return result;
  };
}
