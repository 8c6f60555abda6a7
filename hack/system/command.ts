import type { ChildProcess } from 'node:child_process';
import { signalGroup, spawnWithUs } from './process-group.ts';

/** How a program ended: by itself with a code, or by a signal. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it wrote to stdout and stderr; empty unless it was to be collected. */
  readonly output: string;
}

export interface CommandOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Ends the program and everything in its process group. */
  readonly signal: AbortSignal;
  readonly output: 'inherit' | 'collect';
}

/** How long a program may take to end after SIGTERM before SIGKILL, in ms. */
const GRACE_MS = 5_000;

/**
 * Runs a program in a process group of its own and waits for its end; nothing of the group is left then, nor when this
 * process is killed. Throws the abort reason when it was stopped.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<Ending> {
  options.signal.throwIfAborted();
  const child = spawnWithUs(command, args, {
    cwd: options.cwd,
    env: options.env,
    output: options.output === 'inherit' ? 'inherit' : 'pipe',
  });
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  let killer: NodeJS.Timeout | undefined;
  const { pid } = child;
  // Without a process id not even the shell could be started, and it ends at once with an error.
  const kill = (how: NodeJS.Signals): boolean => pid !== undefined && signalGroup(pid, how);
  const stop = () => {
    kill('SIGTERM');
    killer = setTimeout(() => kill('SIGKILL'), GRACE_MS);
  };
  options.signal.addEventListener('abort', stop, { once: true });
  try {
    const { code, signal } = await ending(child);
    options.signal.throwIfAborted();
    return { code, signal, output: Buffer.concat(chunks).toString('utf8') };
  } finally {
    clearTimeout(killer);
    options.signal.removeEventListener('abort', stop);
    kill('SIGKILL');
  }
}

/** Resolves when the leader has ended: its descendants may hold the pipes open, and are killed next. */
function ending(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      const settle = () => resolve({ code, signal });
      if (child.stdout === null) settle();
      else {
        child.once('close', settle);
        setTimeout(settle, 500).unref();
      }
    });
  });
}
