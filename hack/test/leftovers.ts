import { readdir, readFile } from 'node:fs/promises';

/**
 * Kills the processes that were started with this variable (`NAME=value`) in their environment, however deep below
 * us, and says which they were. On systems without /proc there is no way to tell, and none is reported.
 */
export async function endLeftovers(variable: string): Promise<string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => describe(pid, variable)));
  const left = found.filter((process) => process !== undefined);
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself meanwhile.
    }
  }
  return left.map(({ pid, command }) => `${command} (${pid})`);
}

async function describe(
  pid: string,
  variable: string,
): Promise<{ pid: number; command: string } | undefined> {
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
