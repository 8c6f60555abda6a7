// Runs `npm start`, `npm run dev` or `npm run cluster` until a signal or the death of a child process.
import { UsageError } from '../../apis/reading/command-line.ts';
import { identify, isRunning } from '../system/process-identity.ts';
import { onStopSignal, StoppedError } from '../system/stop-signal.ts';
import { formatElapsed, type Progress, printProgress } from '../terminal/progress.ts';

interface RunningEnvironment {
  readonly announcement: string;
  stop(): Promise<void>;
}

/** Time until all programs are killed, in ms: the stop timeouts of the programs add up to 27 s. */
const STOP_TIMEOUT_MS = 45_000;

/**
 * Environment variable for tests, with the PID of a process: the program exits when this process exits. Otherwise it would
 * not, because npm does not notice the death of its parent.
 */
const STARTER = 'KS_START_PARENT';

/** Interval of the check whether npm is alive, in ms. */
const PARENT_POLL_MS = 1_000;

/**
 * Prints the announcement when the environment is ready, and runs until a signal or until `life` aborts. Throws the
 * reason of the end.
 */
export async function runUntilStopped(
  start: (life: AbortController, progress: Progress) => Promise<RunningEnvironment>,
): Promise<never> {
  // A closed terminal must not prevent the stop.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const stopSignal = onStopSignal();
  const life = new AbortController();
  endWithStarter(life);
  stopSignal.addEventListener('abort', () => {
    console.error('\nStopping …');
    life.abort(stopSignal.reason);
    setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref();
  });
  let running: RunningEnvironment | undefined;
  const began = Date.now();
  try {
    running = await start(life, printProgress(process.stdout));
    console.log(`\nReady after ${formatElapsed(Date.now() - began)}.\n${running.announcement}`);
    await aborted(life.signal);
  } catch (error) {
    // An error after an abort is a consequence of it; the first reason stays.
    life.abort(error);
  }
  await running?.stop();
  const reason: unknown = life.signal.reason;
  if (!(reason instanceof UsageError || reason instanceof StoppedError)) console.error();
  throw reason;
}

/** npm forwards signals, except SIGKILL: then the parent process changes. */
function endWithStarter(life: AbortController): void {
  const { npm_lifecycle_event: npm, [STARTER]: starter } = process.env;
  if (npm === undefined) return;
  const { ppid } = process;
  const above = starter === undefined ? undefined : identify(Number(starter));
  const timer = setInterval(() => {
    if (process.ppid !== ppid || (above && !isRunning(above))) life.abort(new StoppedError('SIGHUP'));
  }, PARENT_POLL_MS).unref();
  life.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
