// Finds the programs of the control plane: prebuilt ones when their version
// fits, ours otherwise. build.ts makes ours.
import { execFile } from 'node:child_process';
import { devNull } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { executable } from '../system/executable.ts';
import type { Progress } from '../terminal/progress.ts';
import { build, builtFolder } from './build.ts';

/** Paths of the programs. */
export interface Binaries {
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeControllerManager: string;
  readonly kubectl: string;
  readonly kwok: string;
  /** Prints the stages that belong to exactly this KWOK. */
  readonly kwokStages: string;
}

interface Program {
  readonly file: string;
  /** How the program is asked for its version, and which answer fits. Without it only our own build is taken. */
  readonly version?: { args: readonly string[]; fits: RegExp };
}

const KUBERNETES = /\bv1\.36\.\d+\b/;

const PROGRAMS: Record<keyof Binaries, Program> = {
  etcd: { file: 'etcd', version: { args: ['--version'], fits: /etcd Version: 3\.[56]\.\d+/ } },
  kubeApiserver: { file: 'kube-apiserver', version: { args: ['--version'], fits: KUBERNETES } },
  kubeControllerManager: {
    file: 'kube-controller-manager',
    version: { args: ['--version'], fits: KUBERNETES },
  },
  kubectl: {
    file: 'kubectl',
    version: { args: ['version', '--client', '-o', 'json'], fits: /"gitVersion":\s*"v1\.36\.\d+"/ },
  },
  kwok: { file: 'kwok' },
  kwokStages: { file: 'kwok-stages' },
};

export interface FindOptions {
  readonly signal: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
  readonly progress?: Progress;
  /** Builds the missing ones and returns their folder; a parameter for tests. */
  readonly build?: typeof build;
}

/** Each program from KUBEBUILDER_ASSETS, else from PATH, else from the cache folder, else from a new build. */
export async function findBinaries(options: FindOptions): Promise<Binaries> {
  const env = options.env ?? process.env;
  const progress = options.progress ?? (() => undefined);
  const foreign = foldersOf(env);
  const built = await builtFolder(env);
  let building: Promise<string> | undefined;
  const find = async (name: keyof Binaries): Promise<string> => {
    const program = PROGRAMS[name];
    const found =
      (await findForeign(program, foreign, env, options.signal)) ??
      (await executable(join(built, program.file)));
    if (found !== undefined) return found;
    building ??= (options.build ?? build)({ env, signal: options.signal, progress });
    return join(await building, program.file);
  };
  const [etcd, kubeApiserver, kubeControllerManager, kubectl, kwok, kwokStages] = await Promise.all([
    find('etcd'),
    find('kubeApiserver'),
    find('kubeControllerManager'),
    find('kubectl'),
    find('kwok'),
    find('kwokStages'),
  ]);
  return { etcd, kubeApiserver, kubeControllerManager, kubectl, kwok, kwokStages };
}

function foldersOf(env: NodeJS.ProcessEnv): string[] {
  const folders = [env['KUBEBUILDER_ASSETS'] ?? '', ...(env['PATH'] ?? '').split(delimiter)];
  return [...new Set(folders.filter((folder) => folder !== ''))];
}

async function findForeign(
  program: Program,
  folders: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (program.version === undefined) return undefined;
  for (const folder of folders) {
    const path = await executable(join(folder, program.file));
    if (path !== undefined && program.version.fits.test(await ask(path, program.version.args, env, signal))) {
      return path;
    }
  }
  return undefined;
}

/** What the program prints; a program that does not run has no version that fits. */
async function ask(
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(path, args, {
      // Some kubectl ask the cluster of the user first, to be of its version.
      env: { ...env, KUBECONFIG: devNull },
      signal,
      timeout: 10_000,
      killSignal: 'SIGKILL',
    });
    return stdout;
  } catch {
    signal.throwIfAborted();
    return '';
  }
}
