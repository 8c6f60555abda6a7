// Finds the installed `go` command. The `go` command downloads the toolchain version that go.mod requires.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The first Go version that downloads toolchains. */
const OLDEST: readonly [number, number] = [1, 21];

/** Environment in which the installed Go builds a module that requires Go `required`, such as `1.26.0`. */
export async function findGo(
  required: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<NodeJS.ProcessEnv> {
  const version = await goVersion(env, signal);
  if (compare(version, OLDEST) < 0) {
    throw new Error(
      `Go ${version.join('.')} is too old to build the control plane: install Go ${OLDEST.join('.')} or newer (https://go.dev/dl)`,
    );
  }
  return compare(version, parse(required)) >= 0 ? {} : { GOTOOLCHAIN: 'auto' };
}

async function goVersion(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<readonly number[]> {
  try {
    const { stdout } = await promisify(execFile)('go', ['env', 'GOVERSION'], {
      // Outside any module, so that Go downloads nothing to print its version.
      env: { ...env, GOTOOLCHAIN: 'local', GOWORK: 'off', GO111MODULE: 'off' },
      signal,
    });
    return parse(stdout.trim().replace(/^go/, ''));
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(
      `Go is needed once to build the control plane, and "go env" did not run: install Go ${OLDEST.join('.')} or newer (https://go.dev/dl)`,
      { cause: error },
    );
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
