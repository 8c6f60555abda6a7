// Main function of a command-line tool: `--help`, error messages and exit codes.
import {
  type Arguments,
  type CommandLine,
  type Flags,
  parseCommandLine,
  UsageError,
  usageText,
} from '../../apis/reading/command-line.ts';
import { explanationOf } from '../../apis/reading/thrown-value.ts';
import { rejectConsumedFlags } from '../../server/commands/npm-flags.ts';
import { StoppedError } from '../system/stop-signal.ts';

/**
 * Runs `work` with the arguments of the process, and sets the exit code: 2 for an invalid command line, 1 for other
 * errors.
 */
export async function runScript<const Known extends Flags>(
  line: CommandLine<Known>,
  work: (given: Arguments<Known>) => Promise<number>,
): Promise<void> {
  process.exitCode = await run(line, work).catch((error: unknown) => {
    // A stop by a signal prints nothing.
    if (error instanceof StoppedError) return error.exitCode;
    process.stderr.write(`${explanationOf(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  });
}

async function run<const Known extends Flags>(
  line: CommandLine<Known>,
  work: (given: Arguments<Known>) => Promise<number>,
): Promise<number> {
  rejectConsumedFlags(line, process.env);
  const given = parseCommandLine(line, process.argv.slice(2));
  if (given) return work(given);
  process.stdout.write(`${usageText(line)}\n`);
  return 0;
}
