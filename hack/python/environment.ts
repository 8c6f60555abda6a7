// Creates Python environments for test programs. The build cache stores them.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildOptions, provide } from '../artifacts/artifact.ts';
import { withElapsed } from '../terminal/progress.ts';

export interface PythonEnvironment {
  /** Name in messages and in the cache, such as `schemathesis`. */
  readonly name: string;
  /** File with all packages, for pip. */
  readonly requirements: string;
}

/** Check for a Python that can create environments: some distributions package venv separately. */
const USABLE = 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))';
const run = promisify(execFile);

/**
 * Returns the Python of an environment; installs the packages if the cache lacks them, in about 20 s. Undefined without
 * Python ≥ 3.10.
 */
export async function findPython(
  environment: PythonEnvironment,
  options: BuildOptions,
): Promise<string | undefined> {
  const version = await pythonVersion(options);
  if (version === undefined) return undefined;
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${version}\n`);
  hash.update(await readFile(environment.requirements));
  const title = environment.name;
  const name = `${title}-${hash.digest('hex').slice(0, 16)}`;
  const make = (staging: string): Promise<void> =>
    withElapsed(
      options.progress,
      () => `${title}: installing`,
      () => install(staging, environment, options),
    );
  const folder = await provide({ title, name, make }, options);
  // After the rename of an environment, only its interpreter works, not its scripts.
  return join(folder, 'bin/python');
}

async function install(
  folder: string,
  { name, requirements }: PythonEnvironment,
  { env, signal }: BuildOptions,
): Promise<void> {
  // Python compiles the imported modules at the first run. pip would compile all of them, which takes longer.
  const pip = ['-m', 'pip', '--disable-pip-version-check', '--quiet', 'install', '--no-deps', '--no-compile'];
  try {
    await run('python3', ['-m', 'venv', folder], { env, signal });
    await run(join(folder, 'bin/python'), [...pip, '--requirement', requirements], { env, signal });
  } catch (error) {
    signal.throwIfAborted();
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new Error(`${name} could not be installed from ${requirements}:\n${said}`, { cause: error });
  }
}

async function pythonVersion({ env, signal }: BuildOptions): Promise<string | undefined> {
  try {
    await run('python3', ['-c', USABLE], { env, signal });
    return (await run('python3', ['--version'], { env, signal })).stdout.trim();
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
