import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../system/error-code.ts';
import { identify, isRunning, type ProcessIdentity, readIdentity } from '../system/process-identity.ts';

/** The holder touches the file this often, in milliseconds. */
const HEARTBEAT = 5_000;
/** A lock whose holder cannot be seen from here (another machine or container) is stale after this. */
const STALE = 30_000;
const POLL_MS = 200;

export interface LockOptions {
  readonly signal: AbortSignal;
  /** Called once, when somebody else holds the lock. */
  readonly waiting?: (holder: string) => void;
}

/**
 * Runs `work` while holding the lock file. A lock left behind by a crash is
 * taken over: at once when its process is known to be gone, else when its
 * heartbeat has stopped.
 *
 * In one narrow case two may hold it (a stale lock renewed between being read
 * and being taken away), so `work` must stay right when done twice; the lock
 * saves the effort.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const token = await acquire(path, options);
  const heartbeat = setInterval(() => {
    const now = new Date();
    // A heartbeat that fails lets the lock go stale, nothing worse.
    utimes(path, now, now).catch(() => undefined);
  }, HEARTBEAT);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if ((await readHolder(path))?.token === token) {
      await rm(path, { force: true });
    }
  }
}

/** Whether nobody holds the lock; one that a crash has left behind is taken away. */
export async function isFree(path: string): Promise<boolean> {
  const holder = await readHolder(path);
  if (await isStale(path, holder)) await takeAway(path, holder, randomUUID());
  return (await readHolder(path)) === undefined;
}

interface Holder {
  readonly token: string;
  readonly host: string;
  readonly process: ProcessIdentity | undefined;
}

async function acquire(path: string, options: LockOptions): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  const token = randomUUID();
  const mine = `${path}.${token}`;
  let told = false;
  const holder: Holder = { token, host: hostname(), process: identify(process.pid) };
  for (;;) {
    options.signal.throwIfAborted();
    await writeFile(mine, JSON.stringify(holder));
    try {
      // A link appears with its content or not at all, and never replaces another one.
      await link(mine, path);
      return token;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    } finally {
      await rm(mine, { force: true });
    }
    const other = await readHolder(path);
    if (await isStale(path, other)) {
      await takeAway(path, other, token);
      continue;
    }
    if (!told) {
      told = true;
      options.waiting?.(other?.process === undefined ? 'another process' : `process ${other.process.pid}`);
    }
    await delay(POLL_MS, undefined, { signal: options.signal });
  }
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof value === 'object' && value !== null && 'token' in value && 'host' in value) {
      const { token, host } = value;
      const process = 'process' in value ? readIdentity(value.process) : undefined;
      return typeof token === 'string' && typeof host === 'string' ? { token, host, process } : undefined;
    }
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !(error instanceof SyntaxError)) throw error;
  }
  return undefined;
}

async function isStale(path: string, holder: Holder | undefined): Promise<boolean> {
  if (holder?.process !== undefined && holder.host === hostname() && !isRunning(holder.process)) {
    return true;
  }
  try {
    return Date.now() - (await stat(path)).mtimeMs > STALE;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Renames the stale lock away; when it turns out to be a fresh one by now, puts it back. */
async function takeAway(path: string, stale: Holder | undefined, token: string): Promise<void> {
  const away = `${path}.${token}.stale`;
  try {
    await rename(path, away);
    if ((await readHolder(away))?.token !== stale?.token) await link(away, path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(away, { force: true });
  }
}
