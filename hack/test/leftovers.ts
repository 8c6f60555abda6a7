import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/** A process that was just sent a signal may take this long to end before it counts as left over, in ms. */
const GRACE_MS = 2_000;
const POLL_MS = 20;

/**
 * Kills the processes that were started with this variable (`NAME=value`) in their environment, however deep below
 * us, and says which they were. On systems without /proc there is no way to tell, and none is reported.
 */
export async function endLeftovers(variable: string): Promise<string[]> {
  let left = await processesWith(variable);
  for (const end = performance.now() + GRACE_MS; left.length > 0 && performance.now() < end; ) {
    await delay(POLL_MS);
    left = await processesWith(variable);
  }
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself meanwhile.
    }
  }
  return left.map(({ pid, command }) => `${command} (${pid})`);
}

/** Those that run, without this one. */
export async function processesWith(variable: string): Promise<Leftover[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => describe(pid, variable)));
  return found.filter((process) => process !== undefined);
}

async function describe(pid: string, variable: string): Promise<Leftover | undefined> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    if (Number(pid) === process.pid || !environment.split('\0').includes(variable)) return undefined;
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(0, 3).join(' ').trim();
    return { pid: Number(pid), command: command || 'unnamed' };
  } catch {
    // It has ended, or belongs to somebody else.
    return undefined;
  }
}
