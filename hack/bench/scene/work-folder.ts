import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Progress } from '../../terminal/progress.ts';

/** Something to be ended when all that was begun after it has ended. */
export type Defer = (cleanup: () => unknown) => void;

/**
 * Does the work in a folder of its own, then what it has deferred, the last first, and removes the folder. What fails of
 * that is told, and the rest is done.
 */
export async function inWorkFolder<Result>(
  name: string,
  progress: Progress,
  work: (dir: string, defer: Defer) => Promise<Result>,
): Promise<Result> {
  const dir = await mkdtemp(join(tmpdir(), `ks-apiserver-${name}-`));
  const cleanups: (() => unknown)[] = [() => rm(dir, { recursive: true, force: true })];
  try {
    return await work(dir, (cleanup) => void cleanups.push(cleanup));
  } finally {
    for (const cleanup of cleanups.toReversed()) {
      try {
        await cleanup();
      } catch (error) {
        progress(`cleaning up: ${String(error)}`);
      }
    }
  }
}
