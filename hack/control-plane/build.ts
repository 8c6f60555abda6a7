// Builds one Go binary that contains all control plane programs. The build cache (hack/artifacts) stores the binary.
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, cacheFolder, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { buildGo, GO_FLAGS } from '../artifacts/go-build.ts';

export const KUBERNETES_VERSION = '1.36.3';

/** The names of the links to the binary. */
const NAMES = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-scheduler',
  'kubectl',
  'kubelet',
  'kwok',
  'kwok-stages',
] as const;
const BINARY = 'control-plane';
const TITLE = 'control plane';

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
const BUILD_FLAGS = [...GO_FLAGS, `-ldflags=${LINKER_FLAGS.join(' ')}`];

/** The cache folder for the current sources, whether it exists or not. */
export async function builtFolder(env: NodeJS.ProcessEnv): Promise<string> {
  return join(cacheFolder(env), await nameOfResult(), 'bin');
}

/** Returns the folder of the programs; builds them if they are missing. */
export async function build(options: BuildOptions): Promise<string> {
  const folder = await provide({ title: TITLE, name: await nameOfResult(), make }, options);
  return join(folder, 'bin');
}

/** Cache key: sources, locked modules, flags and platform. */
function nameOfResult(): Promise<string> {
  const files = ['*.go', 'go.mod', 'go.sum'];
  return hashOfInputs({ folder: import.meta.dirname, files, settings: [NAMES, BUILD_FLAGS] });
}

async function make(staging: string, options: BuildOptions): Promise<void> {
  const bin = join(staging, 'bin');
  await mkdir(bin);
  options.progress(
    `${TITLE}: building Kubernetes ${KUBERNETES_VERSION}, etcd and KWOK from source, once for this machine`,
  );
  await buildGo(
    {
      title: TITLE,
      module: import.meta.dirname,
      packages: ['.'],
      output: join(bin, BINARY),
      flags: BUILD_FLAGS,
    },
    options,
  );
  await Promise.all(NAMES.map((name) => symlink(BINARY, join(bin, name))));
}
