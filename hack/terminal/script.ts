import { StoppedError } from '../system/stop-signal.ts';
import { UsageError } from './usage.ts';

/**
 * Runs a script and ends the process with the code that it resolves with. What it throws is told in one line: 2 is for a
 * command line that cannot be understood, 1 for everything else but a signal, of which the person knows.
 */
export async function runScript(work: () => Promise<number>): Promise<void> {
  process.exitCode = await work().catch((error: unknown) => {
    if (error instanceof StoppedError) return error.exitCode;
    process.stderr.write(`${explanationOf(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  });
}

/** What failed, and why. */
function explanationOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (!(cause instanceof Error) || cause.message === '') return message;
  // The message already says what the system error means.
  return 'path' in cause ? message : `${message}: ${cause.message}`;
}
