// Starts a program of the repository anew whenever one of its files is saved. `node --watch` does that too, but puts a
// process between us and the program, and both would outlive us when we are killed.
import { watch } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** An editor writes a file in several steps, and people save several files at once. */
const SETTLE_MS = 100;
/** Temporary files of editors have other names. */
const SOURCE = /\.(?:ts|js|json|css|html)$/;

/**
 * Calls `start` at once, and after each save below `folders` anew: the signal of the run before is aborted and its end
 * awaited. What ends by itself waits for the next save. Rejects when a folder cannot be watched, when a run rejects,
 * and when `signal` is aborted, once the last run has ended.
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
        run.abort(new Error('the program is to start anew'));
        await ended;
      }
    }
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', stop);
    for (const watcher of watchers) watcher.close();
  }
}

/** It may be rejected before anybody awaits it. */
function nextSave(): PromiseWithResolvers<void> {
  const save = Promise.withResolvers<void>();
  save.promise.catch(() => undefined);
  return save;
}
