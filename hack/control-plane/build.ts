// Builds the Go module of this folder into the cache folder that all clones of
// the repository share. Owns the name of the result (a hash of what goes in),
// the lock and the placing by rename; which programs are taken from it is
// decided in binaries.ts.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { withLock } from './lock.ts';
import { signalGroup } from './process-group.ts';
import { type Progress, withElapsed } from './progress.ts';
import { findGo } from './toolchain.ts';

export const KUBERNETES_VERSION = '1.36.3';

/** The names under which the one binary is called. */
const NAMES = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kubectl',
  'kwok',
  'kwok-stages',
] as const;
const BINARY = 'control-plane';
const GO_VERSION = '1.26.0';

const VERSION_PACKAGES = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'];
const LINKER_FLAGS = [
  '-s',
  '-w',
  ...VERSION_PACKAGES.flatMap((name) =>
    Object.entries({
      gitVersion: `v${KUBERNETES_VERSION}`,
      gitMajor: KUBERNETES_VERSION.split('.')[0],
      gitMinor: KUBERNETES_VERSION.split('.')[1],
      gitTreeState: 'clean',
      gitCommit: '',
    }).map(([field, value]) => `-X=${name}.${field}=${value}`),
  ),
];
const BUILD_FLAGS = [
  '-v',
  '-trimpath',
  '-mod=readonly',
  '-buildvcs=false',
  `-ldflags=${LINKER_FLAGS.join(' ')}`,
];

export interface BuildOptions {
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  progress: Progress;
}

/** Where things that took long to make are kept: `${XDG_CACHE_HOME:-$HOME/.cache}/ks-apiserver`. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const base = env['XDG_CACHE_HOME'];
  return join(
    base !== undefined && base !== '' ? base : join(env['HOME'] ?? homedir(), '.cache'),
    'ks-apiserver',
  );
}

/** The folder of the programs that belong to the sources as they are now, whether it exists or not. */
export async function builtFolder(env: NodeJS.ProcessEnv): Promise<string> {
  return join(cacheFolder(env), await hashOfInputs(), 'bin');
}

/** The folder of the programs, built when it is not there yet. */
export async function build(options: BuildOptions): Promise<string> {
  const cache = cacheFolder(options.env);
  const hash = await hashOfInputs();
  const bin = join(cache, hash, 'bin');
  if (await exists(bin)) {
    return bin;
  }
  const waiting = (holder: string): void =>
    options.progress(`control plane: ${holder} is building it already, waiting for the result`);
  await withLock(join(cache, `${hash}.lock`), { signal: options.signal, waiting }, async () => {
    if (await exists(bin)) {
      return;
    }
    await sweep(cache, hash);
    const staging = join(cache, `${hash}.building-${process.pid}`);
    try {
      await mkdir(join(staging, 'bin'), { recursive: true });
      await runGo(join(staging, 'bin', BINARY), options);
      await Promise.all(NAMES.map((name) => symlink(BINARY, join(staging, 'bin', name))));
      await rename(staging, join(cache, hash));
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  });
  return bin;
}

/** Goes into the name of the result: the sources, the locked modules, the flags, the kind of machine. */
async function hashOfInputs(): Promise<string> {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([process.platform, process.arch, NAMES, BUILD_FLAGS]));
  const sources = (await readdir(import.meta.dirname)).filter((name) => /\.go$|^go\.(mod|sum)$/.test(name));
  for (const name of sources.sort()) {
    hash.update(`\0${name}\0`);
    hash.update(await readFile(join(import.meta.dirname, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function runGo(output: string, options: BuildOptions): Promise<void> {
  const toolchain = await findGo(GO_VERSION, options.env, options.signal);
  options.progress(
    `control plane: building Kubernetes ${KUBERNETES_VERSION}, etcd and KWOK from source (once; about 5 minutes on 2 cores)`,
  );
  const child = spawn('go', ['build', ...BUILD_FLAGS, '-o', output, '.'], {
    cwd: import.meta.dirname,
    // GOFLAGS and GOWORK of the user are meant for other modules.
    env: { ...options.env, ...toolchain, CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let compiled = 0;
  let latest = '';
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.startsWith('go: downloading ')) {
      latest = line.slice('go: '.length);
    } else if (/^[\w./~-]+$/.test(line)) {
      compiled++; // -v names each package when it is compiled
      latest = `${compiled} packages compiled`;
    } else {
      errors.push(line);
    }
  });
  const describe = (): string => `control plane: building${latest === '' ? '' : `, ${latest}`}`;
  await withElapsed(options.progress, describe, () => exitOf(child, errors, options.signal));
}

/** An abort ends the compilers as well: they are in the group of the go command. */
function exitOf(child: ChildProcess, errors: readonly string[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      if (child.pid !== undefined) {
        signalGroup(child.pid, 'SIGKILL');
      }
    };
    child.once('error', reject);
    child.once('close', (code) => {
      signal.removeEventListener('abort', end);
      process.removeListener('exit', end);
      if (signal.aborted) {
        reject(signal.reason);
      } else if (code === 0) {
        resolve();
      } else {
        reject(
          new Error(
            `building the control plane failed (go build ended with ${code}); to see it alone: (cd ${import.meta.dirname} && go build ./...)\n${errors.slice(-20).join('\n')}`,
          ),
        );
      }
    });
    process.once('exit', end);
    if (signal.aborted) {
      end();
    }
    signal.addEventListener('abort', end, { once: true });
  });
}

/** Removes what builders that were killed have left behind. */
async function sweep(cache: string, hash: string): Promise<void> {
  const leftovers = (await readdir(cache)).filter((name) => name.startsWith(`${hash}.building-`));
  await Promise.all(leftovers.map((name) => rm(join(cache, name), { recursive: true, force: true })));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
