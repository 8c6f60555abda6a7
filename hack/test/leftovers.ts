// Finds and kills processes that outlive the test run.
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/** Time that a process has to exit after a signal before it is reported, in ms. */
const GRACE_MS = 10_000;
const POLL_MS = 20;

/**
 * Kills the descendant processes whose environment has this variable (`NAME=value`), and returns their command lines.
 * Without /proc it finds none.
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
      // The process has exited meanwhile.
    }
  }
  return left.map(({ pid, command }) => `${command} (${pid})`);
}

/** The matching processes that run, except this one. */
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
    // The process has exited, or belongs to another user.
    return undefined;
  }
}
