// Starts a registry for charts as a child process, in memory, for tests.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { provideGoProgram } from '../artifacts/go-programs.ts';
import { Daemon } from '../system/daemon.ts';

interface RegistryOptions {
  /** Folder of the log; created if missing. */
  readonly dir: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

export async function startRegistry({ dir, port, signal }: RegistryOptions): Promise<AsyncDisposable> {
  const command = await provideGoProgram('crane', { env: process.env, signal, progress: () => undefined });
  await mkdir(dir, { recursive: true });
  const address = `127.0.0.1:${port}`;
  return Daemon.started(
    {
      name: 'crane',
      command,
      args: ['registry', 'serve', `--address=${address}`],
      logFile: join(dir, 'crane.log'),
      pidFile: join(dir, 'crane.pid'),
      ready: async (attempt) => (await fetch(`http://${address}/v2/`, { signal: attempt })).ok,
    },
    signal,
  );
}
