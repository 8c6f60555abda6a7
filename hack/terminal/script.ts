import { StoppedError } from '../system/stop-signal.ts';
import { UsageError } from './usage.ts';

/**
 * Runs the main function of a command-line tool and sets the process exit code. The exit code is 2 for an invalid
 * command line and 1 for other errors.
 */
export async function runScript(work: () => Promise<number>): Promise<void> {
  process.exitCode = await work().catch((error: unknown) => {
    // A stop by a signal prints nothing.
    if (error instanceof StoppedError) return error.exitCode;
    process.stderr.write(`${explanationOf(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  });
}

/** The message with its cause. */
function explanationOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (!(cause instanceof Error) || cause.message === '') return message;
  // The message already contains the meaning of the system error.
  return 'path' in cause ? message : `${message}: ${cause.message}`;
}
