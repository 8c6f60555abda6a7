// Finds the control plane programs. Without installed programs of a matching version, build.ts builds the programs.
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
  readonly kubelet: string;
  readonly kubeProxy: string;
  readonly kubeScheduler: string;
  readonly kwok: string;
  /** Prints the stages of exactly this KWOK version. */
  readonly kwokStages: string;
}

interface Program {
  readonly file: string;
  /** Version flags and the pattern of a matching version. If undefined, only our own build is used. */
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
  kubelet: { file: 'kubelet' },
  kubeProxy: { file: 'kube-proxy' },
  kubeScheduler: { file: 'kube-scheduler' },
  kwok: { file: 'kwok' },
  kwokStages: { file: 'kwok-stages' },
};

export interface FindOptions {
  readonly signal: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
  readonly progress?: Progress;
  /** Builds the missing programs and returns their folder; tests replace it. */
  readonly build?: typeof build;
}

/** Finds each program in KUBEBUILDER_ASSETS, PATH, the cache folder, or a new build, in this order. */
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
  return {
    etcd: await find('etcd'),
    kubeApiserver: await find('kubeApiserver'),
    kubeControllerManager: await find('kubeControllerManager'),
    kubectl: await find('kubectl'),
    kubelet: await find('kubelet'),
    kubeProxy: await find('kubeProxy'),
    kubeScheduler: await find('kubeScheduler'),
    kwok: await find('kwok'),
    kwokStages: await find('kwokStages'),
  };
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

/** The output of the program; empty if it does not run. */
async function ask(
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(path, args, {
      // Some kubectl wrappers contact the user's cluster first, to match its version.
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
