// Finds the programs of the control plane and of a real node. Without installed programs of a matching version, build.ts
// builds the programs.
import { execFile } from 'node:child_process';
import { devNull } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { executable } from '../system/executable.ts';
import type { Progress } from '../terminal/progress.ts';
import { type Binary, build, builtFolder } from './build.ts';

interface Source {
  readonly file: string;
  /** The binary of our build that contains the program. */
  readonly binary: Binary;
  /** Version flags and the pattern of a matching version. If undefined, only our own build is used. */
  readonly version?: { args: readonly string[]; fits: RegExp };
}

const KUBERNETES = /\bv1\.36\.\d+\b/;

const SOURCES = {
  controllers: { file: 'controllers', binary: 'control-plane' },
  etcd: {
    file: 'etcd',
    binary: 'control-plane',
    version: { args: ['--version'], fits: /etcd Version: 3\.[56]\.\d+/ },
  },
  kubeApiserver: {
    file: 'kube-apiserver',
    binary: 'control-plane',
    version: { args: ['--version'], fits: KUBERNETES },
  },
  kubeControllerManager: {
    file: 'kube-controller-manager',
    binary: 'node',
    version: { args: ['--version'], fits: KUBERNETES },
  },
  kubectl: {
    file: 'kubectl',
    binary: 'kubectl',
    version: { args: ['version', '--client', '-o', 'json'], fits: /"gitVersion":\s*"v1\.36\.\d+"/ },
  },
  kubelet: { file: 'kubelet', binary: 'node' },
  kubeProxy: { file: 'kube-proxy', binary: 'node' },
  kubeScheduler: { file: 'kube-scheduler', binary: 'node' },
  kwok: { file: 'kwok', binary: 'control-plane' },
  /** Prints the stages of exactly this KWOK version. */
  kwokStages: { file: 'kwok-stages', binary: 'control-plane' },
} as const satisfies Record<string, Source>;

export type Program = keyof typeof SOURCES;

/** Paths of programs. */
export type Paths<Name extends Program> = Readonly<Record<Name, string>>;

/** The programs of every control plane, which envtest has too. */
export const API = ['etcd', 'kubeApiserver', 'kubectl'] as const;
/** The programs that let Deployments create pods on simulated nodes. */
export const SIMULATION = ['controllers', 'kwok', 'kwokStages'] as const;
/** The programs of a real node. */
export const NODE = ['kubelet', 'kubeProxy', 'kubeScheduler'] as const;
/** The programs of the real cluster. */
export const CLUSTER = [...API, 'kubeControllerManager', ...NODE] as const;

interface FindOptions {
  readonly signal: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
  readonly progress?: Progress;
  /** Builds the missing programs and returns their folder; tests replace it. */
  readonly build?: typeof build;
}

/** Finds each program in KUBEBUILDER_ASSETS, PATH, the cache folder, or a new build, in this order. */
export async function findPrograms<Name extends Program>(
  names: readonly Name[],
  options: FindOptions,
): Promise<Paths<Name>> {
  const { env = process.env, signal, progress = () => undefined } = options;
  const found = await installed(names, options);
  const assets = env['KUBEBUILDER_ASSETS'] ?? '';
  const isInEnvtest = (name: Program): boolean => API.some((each) => each === name);
  for (const name of names) {
    const { file, binary }: Source = SOURCES[name];
    if (isInEnvtest(name) && assets !== '' && found[name] !== join(assets, file)) {
      progress(`KUBEBUILDER_ASSETS (${assets}) has no ${file} of a matching version (Kubernetes 1.36)`);
    }
    if (found[name] !== undefined) continue;
    found[name] = join(await (options.build ?? build)(binary, { env, signal, progress }), file);
  }
  return found as Paths<Name>;
}

/** Whether all these programs are found without a build. */
export async function areInstalled(names: readonly Program[], options: FindOptions): Promise<boolean> {
  return Object.keys(await installed(names, options)).length === names.length;
}

async function installed<Name extends Program>(
  names: readonly Name[],
  { env = process.env, signal }: FindOptions,
): Promise<Partial<Record<Name, string>>> {
  const found: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const source: Source = SOURCES[name];
    const path =
      (await findForeign(source, foldersOf(env), env, signal)) ??
      (await executable(join(await builtFolder(source.binary, env), source.file)));
    if (path !== undefined) found[name] = path;
  }
  return found;
}

function foldersOf(env: NodeJS.ProcessEnv): string[] {
  const folders = [env['KUBEBUILDER_ASSETS'] ?? '', ...(env['PATH'] ?? '').split(delimiter)];
  return [...new Set(folders.filter((folder) => folder !== ''))];
}

async function findForeign(
  source: Source,
  folders: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (source.version === undefined) return undefined;
  for (const folder of folders) {
    const path = await executable(join(folder, source.file));
    if (path !== undefined && source.version.fits.test(await ask(path, source.version.args, env, signal))) {
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
