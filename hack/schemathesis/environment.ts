// Creates the Python environment of schemathesis, a test tool for OpenAPI documents. The build cache stores the
// environment.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildOptions, provide } from '../artifacts/artifact.ts';
import { withElapsed } from '../terminal/progress.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
/** Check for a Python that runs schemathesis and can create environments: some distributions package venv separately. */
const USABLE = 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))';
const run = promisify(execFile);

/** Returns the Python with schemathesis; installs it if the cache lacks it, in about 20 s. Undefined without Python ≥ 3.10. */
export async function findSchemathesis(options: BuildOptions): Promise<string | undefined> {
  const version = await pythonVersion(options);
  if (version === undefined) return undefined;
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${version}\n`);
  hash.update(await readFile(REQUIREMENTS));
  const name = `schemathesis-${hash.digest('hex').slice(0, 16)}`;
  const folder = await provide({ title: 'schemathesis', name, make }, options);
  // After the rename of an environment, only its interpreter works, not its scripts.
  return join(folder, 'bin/python');
}

function make(staging: string, options: BuildOptions): Promise<void> {
  return withElapsed(
    options.progress,
    () => 'schemathesis: installing',
    () => install(staging, options),
  );
}

async function install(folder: string, { env, signal }: BuildOptions): Promise<void> {
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

async function pythonVersion({ env, signal }: BuildOptions): Promise<string | undefined> {
  try {
    await run('python3', ['-c', USABLE], { env, signal });
    return (await run('python3', ['--version'], { env, signal })).stdout.trim();
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
