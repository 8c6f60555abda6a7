// `npm run soak`: runs a mixed load with constant change against two replicas of the server, and reports whether their
// memory, open files, timers and latencies grow.
import { writeFile } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';
import { join, parse } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type CommandLine, wholeNumber } from '../../apis/reading/command-line.ts';
import { cpuSeconds } from '../bench/measuring/process-usage.ts';
import { onStopSignal } from '../system/stop-signal.ts';
import { formatElapsed, printProgress } from '../terminal/progress.ts';
import { runScript } from '../terminal/script.ts';
import { chart } from './chart.ts';
import { type Environment, type Replica, withEnvironment } from './environment.ts';
import { fillCaches } from './full-caches.ts';
import { Recorder, runLoad } from './load.ts';
import { json, markdown, type Run, reportOf, type Window } from './report.ts';
import { sampleOf } from './samples.ts';
import { CONTROLS, soakTasks } from './tasks.ts';

const SAMPLE_MS = 10_000;
/** Leaves the CPU to other work. */
const NICE = 10;
/** Time until the server has noticed that all streams were dropped. */
const SETTLE_MS = 30_000;

const LINE = {
  command: 'npm run soak --',
  usage: ['[options]'],
  about:
    'Runs a mixed load against two replicas of the server, and reports whether their memory, open files, timers and latencies grow.',
  flags: {
    minutes: { value: 'N', default: '60', description: 'duration of the load' },
    report: {
      value: 'FILE',
      description:
        'also writes the report to FILE, and a chart beside it (.svg): JSON with all samples if the name ends with .json, else Markdown',
    },
  },
  notes:
    'Ctrl-C ends the load and prints the report. The exit code is 1 if a series grows or an unexpected error occurred.',
} as const satisfies CommandLine;

const progress = printProgress(process.stdout);

/** Runs the load until it ends or `stopped` aborts. */
async function soak(environment: Environment, minutes: number, stopped: AbortSignal): Promise<Run> {
  const { replicas, pids, failure } = environment;
  const recorder = new Recorder();
  const tasks = await soakTasks(environment, recorder);
  progress('filling the caches of responses');
  await fillCaches(environment, stopped);
  const failed = new AbortController();
  const fail = (error: unknown): void => {
    recorder.fail('programs', error);
    failed.abort();
  };
  void failure.then(fail);
  const signal = AbortSignal.any([stopped, failed.signal, AbortSignal.timeout(minutes * 60_000)]);
  const windows: Window[] = [];
  const date = new Date().toISOString();
  const before = await cpuOf(pids);
  const running = runLoad(tasks, recorder, signal);
  try {
    while (await delay(SAMPLE_MS, true, { signal }).catch(() => false)) {
      const state = { at: recorder.seconds, latencies: recorder.takeLatencies() };
      const samples = replicas.map(async (replica) => [replica.name, await sampleOf(replica)] as const);
      windows.push({ ...state, samples: new Map(await Promise.all(samples)) });
      progress(
        `${formatElapsed(state.at * 1000)} of ${minutes}m, ${recorder.errors.size} kinds of errors`,
        true,
      );
    }
  } catch (error) {
    // A replica has exited.
    fail(error);
  }
  await running;
  const { seconds } = recorder;
  const after = await cpuOf(pids).catch(() => before);
  const cores = new Map([...after].map(([name, used]) => [name, (used - (before.get(name) ?? 0)) / seconds]));
  for (const replica of replicas)
    await streamsEnd(replica).catch((error: unknown) => recorder.fail(replica.name, error));
  return { date, seconds, windows, cores, errors: [...recorder.errors.values()] };
}

async function cpuOf(pids: Environment['pids']): Promise<Map<string, number>> {
  const seconds = [...pids].map(async ([name, pid]) => [name, await cpuSeconds(pid)] as const);
  return new Map(await Promise.all(seconds));
}

/** Throws if dropped streams stay open. */
async function streamsEnd(replica: Replica): Promise<void> {
  const patience = AbortSignal.timeout(SETTLE_MS);
  for (;;) {
    const open = (await sampleOf(replica))['long-running requests'];
    if (open === 0) return;
    if (patience.aborted) throw new Error(`${open} long-running requests are open after the load`);
    await delay(500);
  }
}

await runScript(LINE, async ({ values }) => {
  const minutes = wholeNumber('--minutes', values.minutes, 1, 10_000);
  setPriority(Math.max(NICE, getPriority()));
  const stopped = onStopSignal();
  // The environment outlives a stop of the load.
  const start = new AbortController();
  const abandon = (): void => start.abort(stopped.reason);
  stopped.addEventListener('abort', abandon);
  const run = withEnvironment(progress, start.signal, async (environment) => {
    stopped.removeEventListener('abort', abandon);
    return soak(environment, minutes, stopped);
  });
  const report = reportOf(
    await run.catch((error: unknown) => {
      // An error after an abort is a consequence of it.
      start.signal.throwIfAborted();
      throw error;
    }),
    CONTROLS,
  );
  process.stdout.write(`\n${markdown(report)}`);
  const { report: file = '' } = values;
  if (file !== '') {
    const { dir, name, ext } = parse(file);
    const picture = `${name}.svg`;
    await writeFile(join(dir, picture), chart(report));
    await writeFile(file, ext === '.json' ? json(report) : markdown(report, picture));
  }
  return report.passed ? 0 : 1;
});
