import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { APPLICATIONS, type Application } from './applications.ts';

const LINES = 400;
/** Milliseconds between two lines: the last 400 reach back two hours. */
const INTERVAL = 18_000;

/** Where the lines of a container are, in the words of KWOK's `ClusterLogs`. */
export interface ContainerLogs {
  containers: string[];
  logsFile: string;
}

/** Writes one log for each application, its last line from now. All replicas have the same. */
export async function writePodLogs(dir: string, now: () => number = Date.now): Promise<ContainerLogs[]> {
  await mkdir(dir, { recursive: true });
  return Promise.all(
    APPLICATIONS.map(async (application) => {
      const logsFile = join(dir, `${application.name}.log`);
      await writeFile(logsFile, criLines(application, now()));
      return { containers: [application.name], logsFile };
    }),
  );
}

/** As a container runtime writes them: time in nanoseconds, stream, F for a full line, text. */
function criLines({ messages }: Application, end: number): string {
  const lines = Array.from({ length: LINES }, (_, index) => {
    const time = new Date(end - (LINES - 1 - index) * INTERVAL).toISOString().replace('Z', '000000Z');
    const message = messages[index % messages.length] ?? '';
    const stream = /error/i.test(message) ? 'stderr' : 'stdout';
    return `${time} ${stream} F ${message} n=${index}\n`;
  });
  return lines.join('');
}
