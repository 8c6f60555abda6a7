// Finds the installed `go` command. The `go` command downloads the toolchain version that go.mod requires.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { BuildOptions } from './artifact.ts';

/** The first Go version that downloads toolchains. */
const OLDEST: readonly [number, number] = [1, 21];

const CURE = `install Go ${OLDEST.join('.')} or newer (https://go.dev/dl)`;

/**
 * Environment in which the installed Go builds a module that requires Go `required`, such as `1.26.0`. `title`: what is built, for
 * messages.
 */
export async function findGo(
  title: string,
  required: string,
  { env, signal }: Pick<BuildOptions, 'env' | 'signal'>,
): Promise<NodeJS.ProcessEnv> {
  const version = await goVersion(title, env, signal);
  if (compare(version, OLDEST) < 0) {
    throw new Error(`${title}: Go ${version.join('.')} is too old to build it: ${CURE}`);
  }
  return compare(version, parse(required)) >= 0 ? {} : { GOTOOLCHAIN: 'auto' };
}

async function goVersion(
  title: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<readonly number[]> {
  try {
    const { stdout } = await promisify(execFile)('go', ['env', 'GOVERSION'], {
      // Outside any module, so that Go downloads nothing to print its version.
      env: { ...env, GOTOOLCHAIN: 'local', GOWORK: 'off', GO111MODULE: 'off' },
      signal,
    });
    return parse(stdout.trim().replace(/^go/, ''));
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`${title}: Go is needed once to build it, and "go env" did not run: ${CURE}`, {
      cause: error,
    });
  }
}

function parse(version: string): number[] {
  return (/^\d+(\.\d+)*/.exec(version)?.[0] ?? '0').split('.').map(Number);
}

function compare(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
