import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeFileError } from '../../cluster/connection/file-error.ts';
import { pause } from '../../concurrency/pause.ts';

const MAX_BYTES = 4096;

/**
 * Reads a file with one secret, now and whenever it changes, until `signal` is aborted. Its folder is watched, since a
 * mounted Secret swaps a symbolic link; and it is read every few seconds, since some file systems report nothing.
 * `changed` gets the text without its line end, or why there is none.
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
    const either = AbortSignal.any([signal, wake.signal]);
    await pause(pollMs, either);
  }
  watcher?.close();
}

function watchFolder(path: string, changed: () => void): ReturnType<typeof watch> | undefined {
  try {
    // Without a folder to watch, or when it vanishes, reading it now and then is enough.
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
    if (text.length > MAX_BYTES) return { failure: 'it is too long' };
    const secret = withoutLineEnd(text);
    return secret === '' ? { failure: 'it is empty' } : { secret };
  } catch (error) {
    return { failure: describeFileError(error) };
  }
}

/** Editors and `echo` end a file with a line break that belongs to no secret. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}
