import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** The terminal and npm both pass one Ctrl-C on, so a second signal counts only after this time, in ms. */
const SAME_KEYSTROKE_MS = 1_000;

/** What the shell expects of a program that ended because of a signal. */
function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** Why everything stops: the abort reason of the signal that `onStopSignal` gives. */
export class StoppedError extends Error {
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
    this.name = 'StoppedError';
    this.exitCode = exitCodeOf(signal);
  }
}

/**
 * Aborted at the first INT, TERM or HUP. A second one, at least a second later, ends the process at once, and what it
 * has started with it (see killAtExit).
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
