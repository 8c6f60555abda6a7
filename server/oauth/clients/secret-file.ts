import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeFileError } from '../../cluster/connection/file-error.ts';
import { pause } from '../../concurrency/pause.ts';

const MAX_BYTES = 4096;

/**
 * Reads a file with one secret now and at every change, until `signal` is aborted. Watches the directory, because a
 * mounted Secret swaps a symbolic link, and polls, because some file systems send no notifications. `changed` receives
 * the secret without its line end, or the reason why the file is unusable.
 */
export async function followSecretFile(
  path: string,
  changed: (secret: string | undefined, failure: string | undefined) => void,
  signal: AbortSignal,
  pollMs = 10_000,
): Promise<void> {
  let wake = new AbortController();
  const watcher = watchFolder(path, () => wake.abort());
  let last: string | undefined;
  while (!signal.aborted) {
    wake = new AbortController();
    const found = await read(path);
    const seen = JSON.stringify(found);
    if (seen !== last) changed(found.secret, found.failure);
    last = seen;
    const wakeOrEnd = AbortSignal.any([signal, wake.signal]);
    await pause(pollMs, wakeOrEnd);
  }
  watcher?.close();
}

function watchFolder(path: string, changed: () => void): ReturnType<typeof watch> | undefined {
  try {
    // Polling suffices when the directory cannot be watched or is deleted.
    return watch(dirname(path), { persistent: false }, changed).on('error', () => undefined);
  } catch {
    return undefined;
  }
}

interface Found {
  readonly secret?: string;
  readonly failure?: string;
}

async function read(path: string): Promise<Found> {
  try {
    const text = await readFile(path, 'utf8');
    if (text.length > MAX_BYTES) return { failure: `the file is longer than ${MAX_BYTES} characters` };
    const secret = withoutLineEnd(text);
    return secret === '' ? { failure: 'the file is empty' } : { secret };
  } catch (error) {
    return { failure: describeFileError(error) };
  }
}

/** Removes the final line break that editors and `echo` add. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}
