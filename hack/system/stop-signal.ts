// Handler for SIGINT, SIGTERM and SIGHUP in the command-line tools. The first signal aborts an AbortSignal; the second
// signal exits the process.
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Signals within this time, in ms, count as one, because the terminal and npm both forward one Ctrl-C. */
const SAME_KEYSTROKE_MS = 1_000;

/** Exit code that shells expect after a signal. */
function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** Abort reason of the signal that `onStopSignal` returns. */
export class StoppedError extends Error {
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
    this.name = 'StoppedError';
    this.exitCode = exitCodeOf(signal);
  }
}

/**
 * Returns a signal that aborts at the first INT, TERM or HUP. A second one, at least a second later, exits the process
 * at once and kills its process groups (killAtExit).
 */
export function onStopSignal(): AbortSignal {
  const controller = new AbortController();
  let firstAt: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      const now = performance.now();
      if (firstAt === undefined) {
        firstAt = now;
        controller.abort(new StoppedError(signal));
      } else if (now - firstAt >= SAME_KEYSTROKE_MS) {
        process.exit(exitCodeOf(signal));
      }
    });
  }
  return controller.signal;
}
