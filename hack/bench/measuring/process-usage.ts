// Reads the CPU time, the resident memory and the open files of a process from /proc.
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** USER_HZ, the unit of times under /proc, on every architecture that Node supports. */
const TICKS_PER_SECOND = 100;

/** CPU time of a process with all its threads, in seconds, with a resolution of 10 ms. */
export async function cpuSeconds(pid: number): Promise<number> {
  return secondsIn(await readFile(`/proc/${pid}/stat`, 'utf8'));
}

/** CPU time of the main thread, which in Node runs JavaScript, in seconds. */
export async function mainThreadSeconds(pid: number): Promise<number> {
  return secondsIn(await readFile(`/proc/${pid}/task/${pid}/stat`, 'utf8'));
}

function secondsIn(stat: string): number {
  // The program name is in parentheses and may contain some itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident memory of a process, in MB (10^6 bytes). */
export async function residentMB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return (Number(kilobytes) * 1024) / 1e6;
}

/** Targets of the open files of a process, such as `socket:[123]`. A file that is closed meanwhile is skipped. */
export async function openFiles(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const targets = (await readdir(folder)).map((file) => readlink(`${folder}/${file}`).catch(() => ''));
  return (await Promise.all(targets)).filter((target) => target !== '');
}

const LOOK_MS = 50;

/** Runs `work`; returns its result and the observed peak of resident memory of the process, in MB. */
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
