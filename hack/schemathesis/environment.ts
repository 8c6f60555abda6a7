// schemathesis, a tester that goes by an OpenAPI description, in a Python environment of its own in the cache folder
// that all clones share. What it is run against is the tests' business.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../control-plane/build.ts';
import { withLock } from '../control-plane/lock.ts';
import { type Progress, withElapsed } from '../control-plane/progress.ts';

export interface EnvironmentOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
/** What schemathesis runs on, with the modules that make an environment: some distributions ship them apart. */
const USABLE = 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))';
const run = promisify(execFile);

/**
 * The Python that has schemathesis; installed when it is not in the cache yet, in about 20 s. Undefined where there is
 * no Python from 3.10 on.
 */
export async function findSchemathesis(options: EnvironmentOptions): Promise<string | undefined> {
  const { env, signal, progress } = options;
  const version = await pythonVersion(options);
  if (version === undefined) return undefined;
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${version}\n`);
  hash.update(await readFile(REQUIREMENTS));
  const folder = join(cacheFolder(env), `schemathesis-${hash.digest('hex').slice(0, 16)}`);
  // The path of the interpreter is all that an environment may be asked for after it was renamed.
  const python = join(folder, 'bin/python');
  if (await exists(folder)) return python;
  await mkdir(cacheFolder(env), { recursive: true });
  const waiting = (holder: string): void => progress(`schemathesis: ${holder} is installing it, waiting`);
  await withLock(`${folder}.lock`, { signal, waiting }, async () => {
    if (await exists(folder)) return;
    const staging = `${folder}.installing-${process.pid}`;
    try {
      await withElapsed(
        progress,
        () => 'schemathesis: installing',
        () => install(staging, options),
      );
      await rename(staging, folder);
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  });
  return python;
}

async function install(folder: string, { env, signal }: EnvironmentOptions): Promise<void> {
  const pip = ['-m', 'pip', '--disable-pip-version-check', '--quiet', 'install', '--no-deps'];
  try {
    await run('python3', ['-m', 'venv', folder], { env, signal });
    await run(join(folder, 'bin/python'), [...pip, '--requirement', REQUIREMENTS], { env, signal });
  } catch (error) {
    signal.throwIfAborted();
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new Error(`schemathesis could not be installed from hack/schemathesis/requirements.txt:\n${said}`, {
      cause: error,
    });
  }
}

async function pythonVersion({ env, signal }: EnvironmentOptions): Promise<string | undefined> {
  try {
    await run('python3', ['-c', USABLE], { env, signal });
    return (await run('python3', ['--version'], { env, signal })).stdout.trim();
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
