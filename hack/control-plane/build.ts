// Builds the programs of the control plane as one Go binary, those of a real node as another, and kubectl alone. The build
// cache (hack/artifacts) stores them.
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, cacheFolder, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { buildGo, GO_FLAGS } from '../artifacts/go-build.ts';

export const KUBERNETES_VERSION = '1.36.3';

/** The binaries with their Go packages and programs. Each program is a link to its binary, or the binary itself. */
const BINARIES = {
  'control-plane': {
    title: 'control plane',
    contents: `Kubernetes ${KUBERNETES_VERSION}, etcd and KWOK`,
    folder: '.',
    programs: ['controllers', 'etcd', 'kube-apiserver', 'kwok', 'kwok-stages'],
  },
  // Each command is a process of its own, and would initialize the packages of all other programs too: `kubectl version`
  // takes 44 ms of CPU instead of 70 ms, and 47 MB of memory instead of 88 MB.
  kubectl: {
    title: 'kubectl',
    contents: `kubectl ${KUBERNETES_VERSION}`,
    folder: 'kubectl',
    programs: ['kubectl'],
  },
  node: {
    title: 'node',
    contents: `kubelet, kube-proxy, kube-scheduler and kube-controller-manager ${KUBERNETES_VERSION}`,
    folder: 'node',
    programs: ['kube-controller-manager', 'kube-proxy', 'kube-scheduler', 'kubelet'],
  },
} as const;

export type Binary = keyof typeof BINARIES;

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

/**
 * Support for unit tests that lies outside of test files. It imports the fake clients of all kinds, which take a twentieth of
 * the time of the build.
 */
const TEST_SUPPORT = {
  module: 'k8s.io/apiserver',
  file: 'pkg/admission/plugin/policy/generic/policy_test_context.go',
} as const;

/** The cache folder of the programs for the current sources, whether it exists or not. */
export async function builtFolder(binary: Binary, env: NodeJS.ProcessEnv): Promise<string> {
  return join(cacheFolder(env), await nameOfResult(binary));
}

/** Returns the folder of the programs; builds them if they are missing. */
export async function build(binary: Binary, options: BuildOptions): Promise<string> {
  const { title } = BINARIES[binary];
  const make = (staging: string): Promise<void> => makeBinary(binary, staging, options);
  return provide({ title, name: await nameOfResult(binary), make }, options);
}

/** Cache key: sources, locked modules, flags and platform. */
async function nameOfResult(binary: Binary): Promise<string> {
  const { folder, programs } = BINARIES[binary];
  const files = [`${folder}/*.go`, 'multicall/*.go', 'go.mod', 'go.sum'];
  const settings = [programs, BUILD_FLAGS];
  return `${binary}-${await hashOfInputs({ folder: import.meta.dirname, files, settings })}`;
}

async function makeBinary(binary: Binary, staging: string, options: BuildOptions): Promise<void> {
  const { title, contents, folder, programs } = BINARIES[binary];
  options.progress(`${title}: building ${contents} from source, once for this machine`);
  await buildGo(
    {
      title,
      module: import.meta.dirname,
      packages: [`./${folder}`],
      output: join(staging, binary),
      flags: BUILD_FLAGS,
      omitted: TEST_SUPPORT,
    },
    options,
  );
  const links = programs.filter((name) => name !== binary);
  await Promise.all(links.map((name) => symlink(binary, join(staging, name))));
}
