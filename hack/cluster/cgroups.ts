// Creates the cgroup of a cluster, below which kubelet creates those of the pods. supervisor.sh removes it.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../artifacts/artifact.ts';

const ROOT = '/sys/fs/cgroup';

export async function createCgroups(name: string): Promise<void> {
  // Version 2 has one hierarchy, version 1 has one for each controller.
  const isUnified = await exists(join(ROOT, 'cgroup.controllers'));
  const hierarchies = isUnified ? [''] : await readdir(ROOT);
  for (const hierarchy of hierarchies) {
    const cgroup = join(ROOT, hierarchy, name);
    await mkdir(cgroup, { recursive: true });
    // A new cgroup of version 1 has neither CPUs nor memory nodes.
    for (const file of isUnified || hierarchy !== 'cpuset' ? [] : ['cpuset.cpus', 'cpuset.mems']) {
      await writeFile(join(cgroup, file), await readFile(join(ROOT, hierarchy, file)));
    }
  }
}
