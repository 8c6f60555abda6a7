// Writes the log files of the simulated containers: one file per application. KWOK serves the log files.
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { APPLICATIONS, type Application, CRASH_LOOPING } from './applications.ts';

const LOGGED = [...APPLICATIONS, CRASH_LOOPING];
const LINES = 400;
/** Interval of past lines in ms: 400 lines cover two hours. */
const INTERVAL_MS = 18_000;
const SECOND_MS = 1000;

/** Log file of a container, in the format of KWOK's `ClusterLogs`. */
interface ContainerLogs {
  readonly containers: string[];
  readonly logsFile: string;
  /** Log of the previous container, for containers that restart. */
  readonly previousLogsFile?: string;
}

/**
 * Writes one log per application; its last line has the current time. All replicas of an application share its log.
 *
 * KWOK serves the files with the kubelet's code (k8s.io/cri-client, pkg/logs), so the parameters of the pod log API,
 * partial lines and rotation behave as in real clusters. There are four differences:
 * - A `follow` response starts with the first line of the log and never ends.
 * - Containers have no IDs and do not restart.
 * - `previous` needs a separate file (`previousLogsFile`).
 * - A request returns 400 if KWOK has no log file for the pod.
 *
 * Tests that need one of these features use a fake kubelet.
 */
export async function writePodLogs(dir: string, now: () => number = Date.now): Promise<ContainerLogs[]> {
  await mkdir(dir, { recursive: true });
  const end = now();
  return Promise.all(
    LOGGED.map(async (application) => {
      const logsFile = logFile(dir, application);
      const lines = Array.from({ length: LINES }, (_, index) =>
        nextLine(application, index, end - (LINES - 1 - index) * INTERVAL_MS),
      );
      await writeFile(logsFile, lines.join(''));
      const logs = { containers: [application.name], logsFile };
      if (application !== CRASH_LOOPING) return logs;
      const previousLogsFile = `${logsFile}.previous`;
      const lastRun = application.messages.map((_, index, { length }) =>
        nextLine(application, index, end - (length - 1 - index) * SECOND_MS),
      );
      await writeFile(previousLogsFile, lastRun.join(''));
      return { ...logs, previousLogsFile };
    }),
  );
}

interface GrowthOptions {
  /** Stops writing. */
  readonly signal: AbortSignal;
  readonly intervalMs: number;
  /** Number of lines after which each log is rotated, as by a kubelet. */
  readonly rotateEvery: number;
}

/** Appends lines to each log until the signal aborts; rejects if a write fails. */
export async function growPodLogs(
  dir: string,
  { signal, intervalMs, rotateEvery }: GrowthOptions,
): Promise<void> {
  for (let index = LINES; !signal.aborted; index++) {
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await Promise.all(
      LOGGED.map(async (application) => {
        const file = logFile(dir, application);
        if (index % rotateEvery === 0) await rename(file, `${file}.1`);
        await appendFile(file, nextLine(application, index, Date.now()));
      }),
    );
  }
}

function logFile(dir: string, { name }: Application): string {
  return join(dir, `${name}.log`);
}

function nextLine({ messages }: Application, index: number, ms: number): string {
  return criLine(messages[index % messages.length] ?? '', index, ms);
}

/** A line in CRI format: time with nanoseconds, stream, F for a full line, text. */
export function criLine(message: string, index: number, ms: number): string {
  const time = new Date(ms).toISOString().replace('Z', '000000Z');
  const stream = /error|fatal/i.test(message) ? 'stderr' : 'stdout';
  const counted = message.endsWith('}') ? `${message.slice(0, -1)},"n":${index}}` : `${message} n=${index}`;
  return `${time} ${stream} F ${counted}\n`;
}
