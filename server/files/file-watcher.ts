// Watcher for files that the server reloads after a change, such as certificates and mounted Secrets.
import { watch } from 'node:fs';
import { dirname } from 'node:path';

interface FileWatcherOptions {
  readonly pollMs?: number;
  /** Delay between a notification and the call, for writers that replace several files. 0 by default. */
  readonly settleMs?: number;
  /** Called for a directory that cannot be watched. Its files are only polled. */
  readonly onUnwatchable?: (directory: string, error: unknown) => void;
}

const POLL_MS = 10_000;

/**
 * Calls `mayHaveChanged` when one of the files may have changed, until `signal` is aborted. It watches the directories, because an
 * update of a mounted Secret replaces a symbolic link beside the files. It also polls, because some file systems send no
 * notifications.
 */
export function watchFiles(
  paths: readonly string[],
  mayHaveChanged: () => void,
  signal: AbortSignal,
  { pollMs = POLL_MS, settleMs = 0, onUnwatchable = () => undefined }: FileWatcherOptions = {},
): void {
  let settling: NodeJS.Timeout | undefined;
  const notified = (): void => {
    settling ??= setTimeout(() => {
      settling = undefined;
      mayHaveChanged();
    }, settleMs);
  };
  const poll = setInterval(mayHaveChanged, pollMs);
  const watchers = [...new Set(paths.map((path) => dirname(path)))].flatMap((directory) => {
    try {
      return watch(directory, { persistent: false }, notified).on('error', (error) =>
        onUnwatchable(directory, error),
      );
    } catch (error) {
      onUnwatchable(directory, error);
      return [];
    }
  });
  signal.addEventListener(
    'abort',
    () => {
      clearInterval(poll);
      clearTimeout(settling);
      for (const watcher of watchers) watcher.close();
    },
    { once: true },
  );
}
