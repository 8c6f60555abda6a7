// Builds VictoriaLogs from unchanged sources, and starts VictoriaLogs as a child process.
import { join } from 'node:path';
import { type BuildOptions, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { buildGo, GO_FLAGS } from '../artifacts/go-build.ts';
import { type LogStoreProcess, type StartOptions, startProgram } from './log-store.ts';

const VICTORIALOGS_VERSION = '1.24.0';

const TITLE = 'VictoriaLogs';
const MODULE = join(import.meta.dirname, 'victorialogs');
const VERSION_VARIABLE = 'github.com/VictoriaMetrics/VictoriaMetrics/lib/buildinfo.Version';
const BUILD_FLAGS = [
  ...GO_FLAGS,
  `-ldflags=-s -w -X=${VERSION_VARIABLE}=victoria-logs-v${VICTORIALOGS_VERSION}`,
];
const PACKAGES = ['./end-with-parent', 'github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-logs'];

interface VictoriaLogsOptions extends StartOptions {
  /** Appended to our flags, so that they override them. */
  readonly flags?: readonly string[];
}

/** Starts VictoriaLogs with unlimited retention; builds it first if the cache lacks it. */
export async function startVictoriaLogs(options: VictoriaLogsOptions): Promise<LogStoreProcess> {
  const { env = process.env, signal, progress = () => undefined, flags = [] } = options;
  const folder = await buildVictoriaLogs({ env, signal, progress });
  return startProgram(
    {
      name: 'victoria-logs',
      ports: 1,
      // Requests a parent death signal, so that VictoriaLogs ends with this process.
      command: join(folder, 'end-with-parent'),
      args: (dir, [port]) => [
        join(folder, 'victoria-logs'),
        `-storageDataPath=${join(dir, 'data')}`,
        `-httpListenAddr=127.0.0.1:${port}`,
        '-retentionPeriod=100y',
        ...flags,
      ],
      readyPath: '/health',
    },
    options,
  );
}

/** Returns the folder of the programs; builds them if the cache lacks them, in about a minute on 2 cores. */
export async function buildVictoriaLogs(options: BuildOptions): Promise<string> {
  const files = ['go.mod', 'go.sum', '**/*.go'];
  const hash = await hashOfInputs({ folder: MODULE, files, settings: [PACKAGES, BUILD_FLAGS] });
  return provide({ title: TITLE, name: `victorialogs-${hash}`, make }, options);
}

async function make(staging: string, options: BuildOptions): Promise<void> {
  options.progress(
    `${TITLE}: building ${VICTORIALOGS_VERSION} from source (once; about a minute on 2 cores)`,
  );
  await buildGo(
    { title: TITLE, module: MODULE, packages: PACKAGES, output: `${staging}/`, flags: BUILD_FLAGS },
    options,
  );
}
