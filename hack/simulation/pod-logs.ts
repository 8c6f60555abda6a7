// What the containers of the simulated cluster have written, and write: one file for each application, which all of
// its replicas share. KWOK serves them with the kubelet's own code (k8s.io/cri-client, pkg/logs), so that `sinceTime`,
// `tailLines`, `limitBytes`, `follow`, partial lines and new files are what they are in clusters. What differs: there
// is no answer to `follow` before its first line, and no end to it, because nobody tells KWOK that a container has
// ended; containers have no ids and do not restart, and `previous` needs a file of its own (`previousLogsFile`); a pod
// without a rule is a 400. Tests that need more bring a kubelet of their own.
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { APPLICATIONS, type Application } from './applications.ts';

const LINES = 400;
/** Milliseconds between two lines of the past: the last 400 reach back two hours. */
const INTERVAL_MS = 18_000;
/** Milliseconds between two lines from now on. */
const GROWTH_INTERVAL_MS = 1_000;

/** Where the lines of a container are, in the words of KWOK's `ClusterLogs`. */
export interface ContainerLogs {
  readonly containers: string[];
  readonly logsFile: string;
}

/** Writes one log for each application, its last line from now. */
export async function writePodLogs(dir: string, now: () => number = Date.now): Promise<ContainerLogs[]> {
  await mkdir(dir, { recursive: true });
  const end = now();
  return Promise.all(
    APPLICATIONS.map(async (application) => {
      const logsFile = logFile(dir, application);
      const lines = Array.from({ length: LINES }, (_, index) =>
        criLine(application, index, end - (LINES - 1 - index) * INTERVAL_MS),
      );
      await writeFile(logsFile, lines.join(''));
      return { containers: [application.name], logsFile };
    }),
  );
}

export interface GrowthOptions {
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly intervalMs?: number;
  readonly now?: () => number;
}

/** Appends a line to each log, again and again, until the signal is aborted; rejects when that is not possible. */
export async function growPodLogs(dir: string, options: GrowthOptions): Promise<void> {
  const { signal, intervalMs = GROWTH_INTERVAL_MS, now = Date.now } = options;
  for (let index = LINES; !signal.aborted; index++) {
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await Promise.all(
      APPLICATIONS.map((application) =>
        appendFile(logFile(dir, application), criLine(application, index, now())),
      ),
    );
  }
}

function logFile(dir: string, { name }: Application): string {
  return join(dir, `${name}.log`);
}

/** As a container runtime writes it: time in nanoseconds, stream, F for a full line, text. */
function criLine({ messages }: Application, index: number, ms: number): string {
  const time = new Date(ms).toISOString().replace('Z', '000000Z');
  const message = messages[index % messages.length] ?? '';
  const stream = /error|fatal/i.test(message) ? 'stderr' : 'stdout';
  const counted = message.endsWith('}') ? `${message.slice(0, -1)},"n":${index}}` : `${message} n=${index}`;
  return `${time} ${stream} F ${counted}\n`;
}
