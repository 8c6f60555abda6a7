// Runner for a compiler or downloader, with progress reports. The error message of a failed program contains its last
// output lines.
import { createInterface } from 'node:readline';
import { signalGroup, spawnWithUs } from '../system/process-group.ts';

export interface Compilation {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Start of the error message, such as `building the control plane failed`. */
  readonly failure: string;
  /** Shell command that repeats this step alone. */
  readonly alone: string;
  /** Called for each output line; returns true for progress, which error messages omit. */
  line(line: string): boolean;
}

/** Lines of compiler output in an error message. */
const LAST_LINES = 20;

/** Runs a compiler or downloader in a process group, which ends with an abort or with this process. */
export async function compile(compilation: Compilation): Promise<void> {
  const { command, args, cwd, env, signal } = compilation;
  signal.throwIfAborted();
  const child = spawnWithUs(command, args, { cwd, env, output: 'pipe' });
  const said: string[] = [];
  for (const input of [child.stdout, child.stderr].filter((each) => each !== null)) {
    createInterface({ input }).on('line', (line) => {
      if (!compilation.line(line)) said.push(line);
    });
  }
  const end = (): void => {
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
  };
  signal.addEventListener('abort', end, { once: true });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve);
    });
    signal.throwIfAborted();
    if (code !== 0) {
      const how = `${command} ${args[0] ?? ''}`.trim();
      throw new Error(
        `${compilation.failure} (${how} ended with ${code}); to see it alone: ${compilation.alone}\n${said.slice(-LAST_LINES).join('\n')}`,
      );
    }
  } finally {
    signal.removeEventListener('abort', end);
  }
}
