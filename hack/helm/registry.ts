// Starts a registry for charts as a child process, in memory, for tests.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Daemon } from '../system/daemon.ts';
import { buildHelmProgram } from './build.ts';

export interface RegistryOptions {
  /** Folder of the log; created if missing. */
  readonly dir: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

export async function startRegistry({ dir, port, signal }: RegistryOptions): Promise<AsyncDisposable> {
  const command = await buildHelmProgram('crane', { env: process.env, signal, progress: () => undefined });
  await mkdir(dir, { recursive: true });
  const address = `127.0.0.1:${port}`;
  const daemon = new Daemon(
    {
      name: 'crane',
      command,
      args: ['registry', 'serve', `--address=${address}`],
      logFile: join(dir, 'crane.log'),
      pidFile: join(dir, 'crane.pid'),
      ready: async (attempt) => (await fetch(`http://${address}/v2/`, { signal: attempt })).ok,
    },
    () => undefined,
  );
  await daemon.start(signal);
  return { [Symbol.asyncDispose]: () => daemon.stop() };
}
