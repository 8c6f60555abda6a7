// Divides the files of a suite into groups. The files of a group run in one process, one after the other.
import { glob } from 'node:fs/promises';
import { dirname } from 'node:path';

export type Grouping = (files: readonly string[], root: string) => Promise<string[][]>;

/** All files in one process. */
export const together: Grouping = async (files) => [[...files]];

/** A fixed share for each job: the fewest processes, for files that start nothing. */
export function inShares(jobs: number): Grouping {
  return async (files) =>
    Array.from({ length: Math.min(jobs, files.length) }, (_, share) =>
      files.filter((_, index) => index % jobs === share),
    );
}

/** The files of a folder with a module `shared-….ts` share the environment of this module. Other files run alone. */
export const byEnvironment: Grouping = async (files, root) => {
  const modules = await Array.fromAsync(glob('test/**/shared-*.ts', { cwd: root }));
  const shared = new Set(modules.map((file) => dirname(file)));
  const groups = Map.groupBy(files, (file) => (shared.has(dirname(file)) ? dirname(file) : file));
  return [...groups.values()];
};
