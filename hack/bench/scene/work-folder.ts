// Creates and removes the temporary folder of a benchmark. Registered cleanup functions run in reverse order before
// the removal of the folder.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Progress } from '../../terminal/progress.ts';

/** Registers a cleanup. Cleanups run in reverse order of their registration. */
export type Defer = (cleanup: () => unknown) => void;

/**
 * Runs the work in a temporary folder, then the deferred cleanups in reverse order, and removes the folder. Reports
 * failed cleanups and continues.
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
