// `npm start -- --kubeconfig`: runs the server for an existing cluster. This command writes nothing to the cluster.
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openFolder } from '../control-plane/folder.ts';
import type { Names } from '../generate/names.ts';
import type { Daemon } from '../system/daemon.ts';
import type { Progress } from '../terminal/progress.ts';
import { existingAnnouncement } from './announcement.ts';
import { prepareServer, serverDaemon } from './development-server.ts';
import { writeEnvironmentFile } from './environment-file.ts';
import { stepsWith } from './steps.ts';

interface ExistingOptions {
  readonly root: string;
  readonly names: Names;
  readonly kubeconfig: string;
  readonly port: number | undefined;
  /** Aborted with the reason if the server dies. */
  readonly life: AbortController;
  readonly progress: Progress;
}

/** Time, in ms, until the end of the log is printed: the cluster may be unreachable, or reject the user. */
const PATIENCE_MS = 5_000;
const AGAIN_MS = 500;
/** Number of log lines to print: each reflector logs its error once, then once a minute. */
const SHOWN = 5;

export async function startExisting(
  options: ExistingOptions,
): Promise<{ announcement: string; stop(): Promise<void> }> {
  const { names, life } = options;
  const kubeconfig = resolve(options.kubeconfig);
  await access(kubeconfig).catch(() => {
    throw new Error(`--kubeconfig ${options.kubeconfig}: no such file`);
  });
  const folder = await openFolder(join(options.root, '.local/existing'));
  try {
    const server = await prepareServer({
      dir: folder.dir,
      names,
      kubeconfig,
      port: options.port,
      registered: false,
    });
    const place = folder.place('ks-apiserver');
    const daemon = serverDaemon(options.root, server, place, (error) => life.abort(error));
    await stepsWith(options.progress)('Server', (progress) =>
      printingLogIfSlow(daemon, place.logFile, progress, () => daemon.start(life.signal)),
    );
    const loadEnvironment = await writeEnvironmentFile(folder.dir, { server, kubeconfig });
    return {
      announcement: existingAnnouncement({ names, loadEnvironment, log: place.logFile }),
      stop: async () => {
        await daemon.stop();
        await folder.release();
      },
    };
  } catch (error) {
    await folder.release();
    throw error;
  }
}

/** Prints the end of the log once if the work takes long. */
async function printingLogIfSlow(
  daemon: Daemon,
  logFile: string,
  progress: Progress,
  work: () => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const printLog = async (): Promise<void> => {
    let causes: string[] = [];
    for (let pause = PATIENCE_MS; causes.join('') === ''; pause = AGAIN_MS) {
      await delay(pause, undefined, { signal: over.signal });
      const lines = (await daemon.lastLines()).split('\n');
      // Failed health checks only repeat that the server is not ready.
      causes = lines.filter((line) => !line.includes(' health check failed ')).slice(-SHOWN);
    }
    progress(`The server is not ready yet; its log ${logFile} ends with:\n${causes.join('\n')}`);
  };
  printLog().catch(() => undefined);
  try {
    await work();
  } finally {
    over.abort();
  }
}
