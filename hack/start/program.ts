// The life of `npm start` and `npm run dev`: command line, signals, exit code. What is started is decided by `start`.
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

/** How long stopping may take before everything is killed, in ms: the programs have 27 s, one after the other. */
const STOP_TIMEOUT_MS = 45_000;

/** Names the process that a test wants us not to outlive: npm itself notices nothing when its parent is killed. */
const STARTER = 'KS_START_PARENT';

/** How often we look whether npm still lives, in ms. */
const PARENT_POLL_MS = 1_000;

/** Runs until a signal comes or a program dies; resolves with the exit code when nothing is left running. */
export async function runProgram(
  command: string,
  start: (args: StartArguments, life: AbortController, progress: Progress) => Promise<RunningEnvironment>,
): Promise<number> {
  let args: StartArguments;
  try {
    args = parseStartArguments(process.argv.slice(2), process.env);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return told(error);
  }
  if (args.help) {
    console.log(startHelp(command, command === 'start'));
    return 0;
  }
  // A closed terminal must not keep us from ending what we started.
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
    running = await start(args, life, printProgress(process.stdout));
    console.log(`\nReady after ${formatElapsed(Date.now() - began)}.\n${running.announcement}`);
    await aborted(life.signal);
  } catch (error) {
    // What fails after the end was asked for fails because of that.
    life.abort(error);
  }
  await running?.stop();
  const reason: unknown = life.signal.reason;
  if (reason instanceof UsageError) return told(reason);
  if (reason instanceof StoppedError) return reason.exitCode;
  console.error(`\n${messageOf(reason)}`);
  return 1;
}

function told(fault: UsageError): number {
  console.error(fault.message);
  return 2;
}

/** npm passes on the signals that it gets, except when it is killed: then our parent process changes. */
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
