// Main function of a command-line tool: `--help`, error messages and exit codes.
import { type Arguments, type CommandLine, type Flags, UsageError } from '../../apis/reading/command-line.ts';
import { explanationOf } from '../../apis/reading/thrown-value.ts';
import { runCommandLine } from '../../server/commands/command.ts';
import { StoppedError } from '../system/stop-signal.ts';

/**
 * Runs `work` with the arguments of the process, and sets the exit code: 2 for an invalid command line, 1 for other
 * errors.
 */
export async function runScript<const Known extends Flags>(
  line: CommandLine<Known>,
  work: (given: Arguments<Known>) => Promise<number>,
): Promise<void> {
  const context = {
    args: process.argv.slice(2),
    environment: { variables: process.env },
    // The reader may have exited, as in `--help | head`.
    print: (text: string) => void process.stdout.on('error', () => {}).write(text),
  };
  process.exitCode = await runCommandLine(line, context, work).catch((error: unknown) => {
    // A stop by a signal prints nothing.
    if (error instanceof StoppedError) return error.exitCode;
    process.stderr.write(`${explanationOf(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  });
}
