// Lock file that coordinates processes in different containers or on different machines. The lock holder renews the
// lock with a heartbeat.
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../system/error-code.ts';
import { identify, isRunning, type ProcessIdentity, readIdentity } from '../system/process-identity.ts';

/** Interval at which the holder touches the file, in ms. */
const HEARTBEAT = 5_000;
/** Age at which a lock of another machine or container is stale, in ms. */
const STALE = 30_000;
const POLL_MS = 200;

interface LockOptions {
  readonly signal: AbortSignal;
  /** Called once if another process holds the lock. */
  readonly waiting?: (holder: string) => void;
}

/**
 * Runs `work` while holding the lock file. Takes over the lock of a crashed process: at once if the process is known
 * to have exited, else when its heartbeat has stopped.
 *
 * `work` must be idempotent, because two processes can hold the lock at the same time: the holder of a stale lock may
 * renew it after another process has read it and before that process removes it.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const token = await acquire(path, options);
  const heartbeat = setInterval(() => {
    const now = new Date();
    // If the heartbeat fails, the lock only becomes stale.
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

/** Returns whether the lock is free. Removes the lock of a crashed process first. */
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
  let notified = false;
  const holder: Holder = { token, host: hostname(), process: identify(process.pid) };
  for (;;) {
    options.signal.throwIfAborted();
    await writeFile(mine, JSON.stringify(holder));
    try {
      // link() is atomic, and fails if the file exists.
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
    if (!notified) {
      notified = true;
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

/** Removes the stale lock by a rename, and restores it if its holder renewed it meanwhile. */
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
