// Files of the user that several processes change: atomic writes, and a lock file beside each file.
import { chmod, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../apis/reading/thrown-value.ts';
import { LoginError } from './login-error.ts';

/** A holder sends two requests of at most ten seconds each. An older lock belongs to a process that was killed. */
const STALE_MS = 30_000;
const WAIT_MS = 45_000;
const POLL_MS = 50;

/** Runs `work` while no other process holds the lock `<file>.lock`, which kubectl also uses for kubeconfig files. */
export async function withLock<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const lock = `${file}.lock`;
  const deadline = Date.now() + WAIT_MS;
  while (!((await create(lock)) || (await takeOver(lock)))) {
    if (Date.now() > deadline) throw new LoginError(`${lock} is in use: if no kubectl is running, delete it`);
    await delay(POLL_MS);
  }
  // A refresh token that was sent is lost if the process ends before it stores the next one.
  for (const signal of SIGNALS) process.on(signal, ignore);
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
    for (const signal of SIGNALS) process.off(signal, ignore);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function ignore(): void {
  // The work is bounded, so the process ends soon.
}

/** False if the file exists. */
async function create(file: string): Promise<boolean> {
  try {
    await writeFile(file, '', { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Replaces a stale lock. The second lock ensures that only one of several waiting processes replaces it. */
async function takeOver(lock: string): Promise<boolean> {
  if (!(await isStale(lock))) return false;
  const successor = `${lock}.successor`;
  if (!(await create(successor))) return false;
  if (await isStale(lock)) {
    await rename(successor, lock);
    return true;
  }
  await rm(successor, { force: true });
  return false;
}

async function isStale(lock: string): Promise<boolean> {
  try {
    return (await stat(lock)).mtimeMs < Date.now() - STALE_MS;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Replaces a file atomically. `mode`: permissions of the new file. */
export async function replaceFile(file: string, content: string, mode: number): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, content, { mode, flush: true });
    // The mode of writeFile is reduced by the umask, and not applied to an existing file.
    await chmod(temporary, mode);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
