import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { identify, isRunning } from '../../../../hack/system/process-identity.ts';
import { until } from '../../../support/until.ts';

/** Starts a child process that starts a log store, kills only the child process, and resolves after the log store has exited. */
export async function untilOrphanIsGone(dir: string): Promise<void> {
  const fixture = join(import.meta.dirname, 'orphan.fixture.ts');
  const parent = spawn(process.execPath, [fixture, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(parent, 'exit');
  try {
    const { value } = await createInterface({ input: parent.stdout })[Symbol.asyncIterator]().next();
    const store = identify(Number(value));
    if (store === undefined) throw new Error(`there is no process ${value}`);
    parent.kill('SIGKILL');
    await ended;
    // The exit of a process that is not a child can only be polled.
    await until(() => !isRunning(store));
  } finally {
    parent.kill('SIGKILL');
    await ended;
  }
}
