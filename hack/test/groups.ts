// Divides the files of a suite into groups. The files of a group run in one process, one after the other.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

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

const SHARED = /from '(\.[^']*\/shared-[\w-]+\.ts)'/;

/** The files that import the same module `shared-….ts` share its environment. Other files run alone. */
export const byEnvironment: Grouping = async (files, root) => {
  const environments = await Promise.all(
    files.map(async (file) => {
      const [, module] = SHARED.exec(await readFile(join(root, file), 'utf8')) ?? [];
      return module === undefined ? file : join(dirname(file), module);
    }),
  );
  return [...Map.groupBy(files, (_, index) => environments[index]).values()];
};
