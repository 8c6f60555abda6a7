// Tests that a real cluster leaves nothing behind when the process that started it is killed.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { processesWith } from '../../hack/test/leftovers.ts';
import { until } from '../support/until.ts';
import { ROOT } from './shared-cluster.ts';

/** Network interfaces and cgroups of all clusters of this machine. */
async function traces(): Promise<Set<string>> {
  const interfaces = (await readFile('/proc/net/dev', 'utf8')).matchAll(/ks-cluster\d+/g);
  const cgroups = await Array.fromAsync(glob('/sys/fs/cgroup/{.,*}/ks-cluster-*'));
  return new Set([...Array.from(interfaces, ([name]) => name), ...cgroups]);
}

describe('npm run cluster', () => {
  it('leaves nothing behind after SIGKILL', async () => {
    const before = await traces();
    const id = randomUUID();
    const child = spawn(process.execPath, [join(ROOT, 'hack/cluster.ts')], {
      env: { ...process.env, KS_CLUSTER_TEST: id },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      for await (const line of createInterface({ input: child.stdout })) {
        if (line.startsWith('cluster: applying')) break;
      }
      expect((await traces()).difference(before).size).to.be.above(1);
      expect(await processesWith(`KS_CLUSTER_TEST=${id}`)).to.have.length.above(8);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await until(async () => (await traces()).isSubsetOf(before));
    await until(async () => (await processesWith(`KS_CLUSTER_TEST=${id}`)).length === 0);
  });
});
