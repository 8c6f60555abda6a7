// Builds the Go programs of this folder (client-go's informers, the load generator) into the cache folder that all
// clones share. What they do stands in their own sources; hack/control-plane owns the lock and the toolchain.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, glob, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../control-plane/build.ts';
import { withLock } from '../control-plane/lock.ts';
import { type Progress, withElapsed } from '../control-plane/progress.ts';
import { findGo } from '../control-plane/toolchain.ts';

const GO_VERSION = '1.26.0';
const BUILD_FLAGS = ['-trimpath', '-mod=readonly', '-buildvcs=false', '-ldflags=-s -w'];

/** Paths of the built programs. */
export interface Clients {
  readonly load: string;
  readonly informer: string;
}

export interface BuildOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** The programs, built when those of these sources are not in the cache yet; about a minute on 2 cores. */
export async function buildClients(options: BuildOptions): Promise<Clients> {
  const cache = cacheFolder(options.env);
  const folder = `clients-${await hashOfInputs()}`;
  const bin = join(cache, folder);
  const clients = { load: join(bin, 'load'), informer: join(bin, 'informer') };
  if (await exists(bin)) return clients;
  const waiting = (holder: string): void =>
    options.progress(`Go clients: ${holder} is building them, waiting`);
  await withLock(`${bin}.lock`, { signal: options.signal, waiting }, async () => {
    if (await exists(bin)) return;
    const staging = `${bin}.building-${process.pid}`;
    try {
      await mkdir(staging, { recursive: true });
      await withElapsed(
        options.progress,
        () => 'Go clients: building',
        () => runGo(staging, options),
      );
      await rename(staging, bin);
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  });
  return clients;
}

async function hashOfInputs(): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([process.platform, process.arch, BUILD_FLAGS]));
  const sources = await Array.fromAsync(glob(['go.mod', 'go.sum', '*/*.go'], { cwd: import.meta.dirname }));
  for (const name of sources.sort()) {
    hash.update(`\0${name}\0`).update(await readFile(join(import.meta.dirname, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function runGo(output: string, { env, signal }: BuildOptions): Promise<void> {
  const toolchain = await findGo(GO_VERSION, env, signal);
  const child = spawn('go', ['build', ...BUILD_FLAGS, '-o', `${output}/`, './load', './informer'], {
    cwd: import.meta.dirname,
    // GOFLAGS and GOWORK of the user are meant for other modules.
    env: { ...env, ...toolchain, CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await exitOf(child, signal);
}

/** An abort ends the compilers as well: they are in the group of the go command. */
async function exitOf(child: ChildProcess, signal: AbortSignal): Promise<void> {
  const end = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000);
  });
  signal.addEventListener('abort', end, { once: true });
  process.once('exit', end);
  try {
    if (signal.aborted) end();
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve);
    });
    signal.throwIfAborted();
    if (code !== 0) {
      throw new Error(
        `building the Go clients failed (go build ended with ${code}); alone: (cd hack/clients && go build ./...)\n${errors}`,
      );
    }
  } finally {
    signal.removeEventListener('abort', end);
    process.removeListener('exit', end);
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
