// Checks whether this machine can run a real cluster.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import { exists } from '../artifacts/artifact.ts';
import { executable } from '../system/executable.ts';
import { tryCgroups } from './cgroups.ts';

/** Each program with the Debian package that contains it. */
const PROGRAMS = {
  'apt-get': 'apt',
  'dpkg-deb': 'dpkg',
  ip: 'iproute2',
  mount: 'mount',
  npm: 'npm',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
  unshare: 'util-linux',
} as const;

/** Kernel features that need no module of a node, tried in namespaces that vanish at once. */
const TRIAL = [
  'ip link add ks-trial type veth',
  'mount -t tmpfs tmpfs /run',
  'mkdir -p /run/var /run/work',
  'mount -t overlay overlay -o lowerdir=/var,upperdir=/run/var,workdir=/run/work /var',
].join(' && ');

/** What is missing for a real cluster, with its cure, in one line; undefined if nothing is. */
export async function missingForCluster(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const missing = await firstMissing(env);
  return missing === undefined ? undefined : `a real cluster needs ${missing}`;
}

async function firstMissing(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'Linux';
  if (process.getuid?.() !== 0) return 'root: run it with sudo, or as root in a virtual machine';
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  if (!/^ID(?:_LIKE)?=.*debian/m.test(release)) return 'Debian 12 or later, for its packages';
  for (const [program, source] of Object.entries(PROGRAMS)) {
    const folders = (env['PATH'] ?? '').split(delimiter);
    const found = await Promise.all(folders.map((folder) => executable(join(folder, program))));
    if (found.every((path) => path === undefined)) {
      return `the program ${program}: apt-get install ${source}`;
    }
  }
  if (!(await hasMemoryController())) return 'the memory controller of cgroups below /sys/fs/cgroup';
  try {
    await tryCgroups();
  } catch (error) {
    return `the permission to create cgroups (${messageOf(error)})`;
  }
  try {
    const namespaces = ['--net', '--mount', '--uts', '--ipc', '--pid', '--fork'];
    await promisify(execFile)('unshare', [...namespaces, 'sh', '-c', TRIAL], { env });
  } catch (error) {
    const reason = messageOf(error).trim().split('\n').at(-1);
    return `namespaces, veth and overlayfs of the kernel, and the permission to use them (${reason})`;
  }
  return undefined;
}

async function hasMemoryController(): Promise<boolean> {
  if (await exists('/sys/fs/cgroup/memory')) return true;
  const controllers = await readFile('/sys/fs/cgroup/cgroup.controllers', 'utf8').catch(() => '');
  return controllers.split(/\s+/).includes('memory');
}
