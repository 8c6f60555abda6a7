// Starts a real VictoriaLogs process with a temporary folder, for integration tests.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogStoreProcess } from '../../../../../../hack/log-stores/log-store.ts';
import { startVictoriaLogs } from '../../../../../../hack/log-stores/victorialogs.ts';

export interface StartedProgram extends Pick<LogStoreProcess, 'url' | 'logFile'>, AsyncDisposable {
  /** Removes its folder too. */
  stop(): Promise<void>;
}

/** A VictoriaLogs for one test, with a temporary folder. */
export async function startedProgram(flags: readonly string[] = []): Promise<StartedProgram> {
  await using made = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'victorialogs-'));
  made.defer(() => rm(dir, { recursive: true, force: true }));
  const { signal } = new AbortController();
  const { url, logFile } = made.use(await startVictoriaLogs({ dir, signal, flags }));
  const all = made.move();
  const stop = () => all.disposeAsync();
  return { url, logFile, stop, [Symbol.asyncDispose]: stop };
}
