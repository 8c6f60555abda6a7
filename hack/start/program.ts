// Runs `npm start`, `npm run dev` or `npm run cluster` until a signal or the death of a child process. The result is the
// exit code.
import { messageOf } from '../../apis/reading/thrown-value.ts';
import { identify, isRunning } from '../system/process-identity.ts';
import { onStopSignal, StoppedError } from '../system/stop-signal.ts';
import { formatElapsed, type Progress, printProgress } from '../terminal/progress.ts';
import { UsageError } from '../terminal/usage.ts';
import { parseStartArguments, type StartArguments, startHelp } from './arguments.ts';

export interface RunningEnvironment {
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

/** Runs until a signal or the death of a program; resolves with the exit code when all programs have stopped. */
export async function runProgram(
  command: string,
  start: (args: StartArguments, life: AbortController, progress: Progress) => Promise<RunningEnvironment>,
): Promise<number> {
  let args: StartArguments;
  try {
    args = parseStartArguments(process.argv.slice(2), process.env);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return usageError(error);
  }
  if (args.help) {
    console.log(startHelp(command, command === 'start'));
    return 0;
  }
  return runUntilStopped((life, progress) => start(args, life, progress));
}

/** Prints the announcement when the environment is ready, and runs until a signal or until `life` aborts. */
export async function runUntilStopped(
  start: (life: AbortController, progress: Progress) => Promise<RunningEnvironment>,
): Promise<number> {
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
  if (reason instanceof UsageError) return usageError(reason);
  if (reason instanceof StoppedError) return reason.exitCode;
  console.error(`\n${messageOf(reason)}`);
  return 1;
}

function usageError(error: UsageError): number {
  console.error(error.message);
  return 2;
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
