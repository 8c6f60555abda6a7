// Runs a program and waits for the exit of the program.
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { signalGroup, spawnWithUs } from './process-group.ts';

/** Result of a program: its exit code or the signal that terminated it. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** stdout and stderr, if they were collected; else empty. */
  readonly output: string;
}

export interface CommandOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Terminates the program and its process group. */
  readonly signal: AbortSignal;
  /** `collect` returns stdout and stderr; a function is called for each line of them. */
  readonly output: 'inherit' | 'collect' | ((line: string) => void);
}

/** Time between SIGTERM and SIGKILL, in ms. */
const GRACE_MS = 5_000;

/**
 * Runs a program in a process group of its own and waits for its exit. All processes of the group are killed when the
 * program exits, and when this process dies. Throws the abort reason if aborted.
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
  const { output } = options;
  for (const input of [child.stdout, child.stderr].filter((each) => each !== null)) {
    if (typeof output === 'function') createInterface({ input }).on('line', output);
    else input.on('data', (chunk: Buffer) => chunks.push(chunk));
  }
  let killer: NodeJS.Timeout | undefined;
  const { pid } = child;
  // Without a PID the shell itself could not be started; the promise then rejects.
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

/** Resolves when the group leader has exited: descendants may keep the pipes open, and are killed next. */
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
