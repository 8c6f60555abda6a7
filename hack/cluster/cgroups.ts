// Creates the cgroup of a cluster, below which kubelet creates those of the pods. supervisor.sh removes it.
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../artifacts/artifact.ts';

const ROOT = '/sys/fs/cgroup';

export async function createCgroups(name: string): Promise<void> {
  const { isUnified, names } = await hierarchies();
  for (const hierarchy of names) {
    const cgroup = join(ROOT, hierarchy, name);
    await mkdir(cgroup, { recursive: true });
    // A new cgroup of version 1 has neither CPUs nor memory nodes.
    for (const file of isUnified || hierarchy !== 'cpuset' ? [] : ['cpuset.cpus', 'cpuset.mems']) {
      await writeFile(join(cgroup, file), await readFile(join(ROOT, hierarchy, file)));
    }
  }
}

/** Creates cgroups and removes them. Rejects if the machine does not permit it. */
export async function tryCgroups(): Promise<void> {
  const name = `ks-trial-${process.pid}`;
  try {
    await createCgroups(name);
  } finally {
    const { names } = await hierarchies();
    await Promise.allSettled(names.map((hierarchy) => rmdir(join(ROOT, hierarchy, name))));
  }
}

/** Version 2 has one hierarchy, version 1 has one for each controller. */
async function hierarchies(): Promise<{ isUnified: boolean; names: string[] }> {
  const isUnified = await exists(join(ROOT, 'cgroup.controllers'));
  return { isUnified, names: isUnified ? [''] : await readdir(ROOT) };
}
