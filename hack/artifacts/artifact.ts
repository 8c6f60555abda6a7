// Build cache for programs and other artifacts. Callers pass the build function; this module manages the cache folder
// and its locks.
import { createHash } from 'node:crypto';
import { access, constants, glob, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { hasCode } from '../system/error-code.ts';
import type { Progress } from '../terminal/progress.ts';
import { isFree, withLock } from './lock.ts';

export interface BuildOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

export interface Artifact {
  /** Name in messages, such as `control plane`. */
  readonly title: string;
  /** Name of its folder in the cache; contains a hash of the inputs. */
  readonly name: string;
  /** Writes the artifact into the empty folder, which is renamed afterwards. */
  make(staging: string, options: BuildOptions): Promise<void>;
}

/** `${XDG_CACHE_HOME:-$HOME/.cache}/ks-apiserver`, for all clones of the repository on a machine. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const base = env['XDG_CACHE_HOME'];
  return join(
    base !== undefined && base !== '' ? base : join(env['HOME'] ?? homedir(), '.cache'),
    'ks-apiserver',
  );
}

/** Returns the folder of the artifact. Builds it if it is missing; concurrent processes build it only once. */
export async function provide(artifact: Artifact, options: BuildOptions): Promise<string> {
  const { title, name } = artifact;
  const cache = cacheFolder(options.env);
  const folder = join(cache, name);
  if (await exists(folder)) return folder;
  await requireWritable(cache, title);
  const waiting = (holder: string): void =>
    options.progress(`${title}: ${holder} is building it already, waiting for the result`);
  await withLock(`${folder}.lock`, { signal: options.signal, waiting }, async () => {
    if (await exists(folder)) return;
    await sweep(cache, name, options.progress);
    const staging = `${folder}.building-${process.pid}`;
    try {
      await mkdir(staging, { recursive: true });
      await artifact.make(staging, options);
      await rename(staging, folder);
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  }).catch((cause: unknown) => {
    if (!hasCode(cause, 'ENOSPC')) throw cause;
    const cure = 'free disk space there, or set XDG_CACHE_HOME to another folder';
    throw new Error(`${title}: the disk of ${cache} is full: ${cure}`, { cause });
  });
  return folder;
}

async function requireWritable(cache: string, title: string): Promise<void> {
  try {
    await mkdir(cache, { recursive: true });
    await access(cache, constants.W_OK);
  } catch (cause) {
    const cure = 'set XDG_CACHE_HOME to a writable folder';
    throw new Error(`${title}: ${cache} is not writable: ${cure}`, { cause });
  }
}

/** Hash of the names and contents of the matching files, of further inputs, and of the platform. */
export async function hashOfInputs(inputs: {
  readonly folder: string;
  readonly files: readonly string[];
  readonly settings: readonly unknown[];
}): Promise<string> {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([process.platform, process.arch, ...inputs.settings]));
  const names = await Array.fromAsync(glob([...inputs.files], { cwd: inputs.folder }));
  for (const name of names.sort()) {
    hash.update(`\0${name}\0`).update(await readFile(join(inputs.folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

/**
 * Removes the staging folders of killed builders, for all artifacts. Every builder holds the lock of its artifact, so a
 * staging folder whose lock is free is abandoned. The caller holds the lock of `name`.
 */
async function sweep(cache: string, name: string, progress: Progress): Promise<void> {
  for (const entry of await readdir(cache)) {
    const artifact = /^(.+)\.building-\d+$/.exec(entry)?.[1];
    if (artifact === undefined) continue;
    if (artifact !== name && !(await isFree(join(cache, `${artifact}.lock`)))) continue;
    // A compiler that outlived its builder may still write there; the next sweep retries.
    await rm(join(cache, entry), { recursive: true, force: true }).catch((error: unknown) =>
      progress(`${entry} could not be removed: ${String(error)}`),
    );
  }
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
