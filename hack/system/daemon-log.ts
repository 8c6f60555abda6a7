import { openSync, statSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Bytes from which on a log is put aside: a folder that is kept for weeks must not fill the disk. */
const LARGE = 10_000_000;
/** What an error shows of a log: enough for a stack trace, little enough to read. */
const LAST_LINES = 15;
const LAST_BYTES = 16_384;

/** A descriptor to append with, and where in the file this run begins. */
export async function openLog(path: string): Promise<{ log: number; logStart: number }> {
  await mkdir(dirname(path), { recursive: true });
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LARGE) {
    await rename(path, `${path}.old`);
  }
  const log = openSync(path, 'a');
  return { log, logStart: statSync(path).size };
}

/** How Go begins to tell why a program dies. The stacks behind it are longer than what is shown, so few of their lines are. */
const DEATH = /^(?:panic|fatal error): /;
const LINES_OF_STACKS = 4;

/** The last lines that were written from `start` on, in bytes; but those about the reason when a program of Go has died. */
export async function lastLines(path: string, start: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const from = Math.max(start, size - LAST_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - from));
    await file.read(buffer, 0, buffer.length, from);
    const lines = buffer.toString('utf8').trimEnd().split('\n');
    const death = lines.findLastIndex((line) => DEATH.test(line));
    const end = death < 0 ? lines.length : death + 1 + LINES_OF_STACKS;
    return lines.slice(0, end).slice(-LAST_LINES).join('\n');
  } finally {
    await file.close();
  }
}
