import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** USER_HZ, in which Linux shows times under /proc, on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** CPU time used by a process and all its threads so far, in seconds; to the hundredth. */
export async function cpuSeconds(pid: number): Promise<number> {
  return secondsIn(await readFile(`/proc/${pid}/stat`, 'utf8'));
}

/** The part of it that its first thread used: in Node, the one that runs JavaScript. */
export async function mainThreadSeconds(pid: number): Promise<number> {
  return secondsIn(await readFile(`/proc/${pid}/task/${pid}/stat`, 'utf8'));
}

function secondsIn(stat: string): number {
  // The program's name stands in parentheses and may hold some itself: count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident memory of a process, in MB (10^6 bytes). */
export async function residentMB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return (Number(kilobytes) * 1024) / 1e6;
}

const LOOK_MS = 50;

/** The result, and the most memory that the process was seen to have meanwhile, in MB. */
export async function peakWhile<Result>(
  pid: number,
  work: () => Promise<Result>,
): Promise<readonly [result: Result, peak: number]> {
  const over = new AbortController();
  let peak = 0;
  const looking = (async () => {
    while (!over.signal.aborted) {
      peak = Math.max(peak, await residentMB(pid));
      await delay(LOOK_MS, undefined, { signal: over.signal }).catch(() => undefined);
    }
  })();
  try {
    return [await work(), peak];
  } finally {
    over.abort();
    await looking;
  }
}
