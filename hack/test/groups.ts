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

const TESTS = join('test', '/');
const SHARED = /from '(\.[^']*\/shared-[\w-]+\.ts)'/g;

/** The files that import the same module `shared-….ts` share its environment. Other files run alone. */
export const byEnvironment: Grouping = async (files, root) => {
  const environments = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(root, file), 'utf8');
      const modules = [...text.matchAll(SHARED)].map(([, module = '']) => join(dirname(file), module));
      // The source has files of such names too, as shared-secret.ts.
      return modules.find((module) => module.startsWith(TESTS)) ?? file;
    }),
  );
  return [...Map.groupBy(files, (_, index) => environments[index]).values()];
};
