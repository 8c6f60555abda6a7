// Restarts a program after each saved file.
import { watch } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Debounce in ms: editors write a file in several steps, and users save several files at once. */
const SETTLE_MS = 100;
/** Excludes temporary files of editors. */
const SOURCE = /\.(?:ts|js|json|css|html)$/;

/**
 * Calls `start` at once and after each save below `folders`, after aborting the previous run and waiting for its end.
 * `node --watch` would add an intermediate process that survives a SIGKILL of this process.
 *
 * Rejects if a folder cannot be watched, if a run rejects, and, after the last run, when `signal` aborts.
 */
export async function runOnSave(
  folders: readonly string[],
  start: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let save = nextSave();
  const stop = (): void => save.reject(signal.reason);
  const watchers = folders.map((folder) =>
    watch(folder, { recursive: true }, (_, name) => {
      if (SOURCE.test(name ?? '')) save.resolve();
    }).on('error', (error) => save.reject(error)),
  );
  signal.addEventListener('abort', stop, { once: true });
  try {
    while (!signal.aborted) {
      const run = new AbortController();
      const ended = start(run.signal);
      try {
        await Promise.race([save.promise, ended.then(() => save.promise)]);
        await delay(SETTLE_MS, undefined, { signal });
        save = nextSave();
      } finally {
        run.abort(new Error('the program restarts'));
        await ended;
      }
    }
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', stop);
    for (const watcher of watchers) watcher.close();
  }
}

/** A promise whose rejection is never reported as unhandled: it may reject before it is awaited. */
function nextSave(): PromiseWithResolvers<void> {
  const save = Promise.withResolvers<void>();
  save.promise.catch(() => undefined);
  return save;
}
