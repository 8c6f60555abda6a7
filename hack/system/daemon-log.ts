// Opens and rotates the log file of a child process. Error messages quote the last lines of the log file.
import { openSync, statSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Size at which a log is rotated, in bytes, so that a long-lived folder does not fill the disk. */
const LARGE = 10_000_000;
/** Lines of a log in an error message: enough for a stack trace. */
const LAST_LINES = 15;
const LAST_BYTES = 16_384;

/** Opens the log for appending; `logStart` is the offset at which this run starts. */
export async function openLog(path: string): Promise<{ log: number; logStart: number }> {
  await mkdir(dirname(path), { recursive: true });
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LARGE) {
    await rename(path, `${path}.old`);
  }
  const log = openSync(path, 'a');
  return { log, logStart: statSync(path).size };
}

/** First line of a crash of a Go program. The stack traces after it are longer than an error message. */
const DEATH = /^(?:panic|fatal error): /;
const LINES_OF_STACKS = 4;

/** The last lines after the offset `start`, or the lines with the reason if a Go program has crashed. */
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
