// Runner for a compiler or downloader, with progress reports. The error message of a failed program contains its last
// output lines.
import { runCommand } from '../system/command.ts';
import { shellWord } from '../terminal/shell-word.ts';
import type { BuildOptions } from './artifact.ts';

interface Compilation {
  /** Start of the error message, such as `building the control plane failed`. */
  readonly failure: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Shell command that repeats this step alone, if it is not the command itself. */
  readonly alone?: string;
  /** Called for each output line; returns true for progress, which error messages omit. */
  readonly line?: (line: string) => boolean;
}

/** Lines of compiler output in an error message. */
const LAST_LINES = 20;

/** Runs a compiler or downloader in a process group, which ends with an abort or with this process. */
export async function compile(
  { failure, command, args, cwd, alone, line }: Compilation,
  { env, signal }: Pick<BuildOptions, 'env' | 'signal'>,
): Promise<void> {
  const said: string[] = [];
  const { code } = await runCommand(command, args, {
    cwd,
    env,
    signal,
    output: (text) => {
      if (line?.(text) !== true) said.push(text);
    },
  });
  if (code === 0) return;
  const how = `${command} ${args[0] ?? ''}`.trim();
  const again = alone ?? `(cd ${shellWord(cwd)} && ${[command, ...args].map(shellWord).join(' ')})`;
  throw new Error(
    `${failure} (${how} ended with ${code}); to see it alone: ${again}\n${said.slice(-LAST_LINES).join('\n')}`,
  );
}
