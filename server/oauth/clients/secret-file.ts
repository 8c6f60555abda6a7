// Watcher of a file with one client secret. The watcher reads the secret again after each change.
import { aborted } from '../../concurrency/aborted.ts';
import { describeFileError } from '../../files/file-error.ts';
import { watchFiles } from '../../files/file-watcher.ts';
import { readTextFile } from '../../files/text-file.ts';

const MAX_BYTES = 4096;

/**
 * Reads a file with one secret now and at every change, until `signal` is aborted. `changed` receives the secret without
 * its line end, or the reason why the file is unusable.
 */
export async function followSecretFile(
  path: string,
  changed: (secret: string | undefined, failure: string | undefined) => void,
  signal: AbortSignal,
  pollMs?: number,
): Promise<void> {
  let last: string | undefined;
  const check = async (): Promise<void> => {
    if (signal.aborted) return;
    const found = await read(path);
    const seen = JSON.stringify(found);
    if (seen !== last) changed(found.secret, found.failure);
    last = seen;
  };
  let checking = check();
  watchFiles(
    [path],
    () => {
      checking = checking.then(check);
    },
    signal,
    pollMs === undefined ? {} : { pollMs },
  );
  await aborted(signal);
  await checking;
}

interface Found {
  readonly secret?: string;
  readonly failure?: string;
}

async function read(path: string): Promise<Found> {
  try {
    const text = await readTextFile(path);
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
