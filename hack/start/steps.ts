import { formatElapsed, type Progress, withElapsed } from '../control-plane/progress.ts';

/** Does one step of the set-up and says what it is, how long it takes, and that it is done. */
export type Steps = <T>(what: string, work: () => Promise<T>) => Promise<T>;

export function stepsWith(progress: Progress): Steps {
  return async (what, work) => {
    const began = Date.now();
    const result = await withElapsed(progress, () => what, work);
    progress(`${what}: done in ${formatElapsed(Date.now() - began)}`);
    return result;
  };
}
