// Main function of a command-line tool: `--help`, error messages and exit codes.
import {
  type Arguments,
  type CommandLine,
  type Flags,
  parseCommandLine,
  UsageError,
  usageText,
} from '../../apis/reading/command-line.ts';
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

/** Configuration of other tools that an .npmrc may contain. */
const FOREIGN_KEYS: ReadonlySet<string> = new Set(['email', 'jobs', 'platform']);

/** npm consumes flags before `--`, and passes them in the environment. Without this check, the program ignores them. */
export function rejectConsumedFlags({ command, flags }: CommandLine, env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(flags)) {
    const key = name.replace(/^no-/, '').replaceAll('-', '_');
    if (!command.startsWith('npm ') || FOREIGN_KEYS.has(name) || env[`npm_config_${key}`] === undefined) {
      continue;
    }
    throw new UsageError(`npm consumed the flag --${name}: write -- before it, as in ${command} --${name} …`);
  }
}

/** The message with its cause. */
function explanationOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (!(cause instanceof Error) || cause.message === '') return message;
  // The message already contains the meaning of the system error.
  return 'path' in cause ? message : `${message}: ${cause.message}`;
}
