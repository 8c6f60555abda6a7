// The real cluster of all tests in this folder. It starts before the first test and ends after the last.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cluster } from '../../hack/cluster/cluster.ts';
import { printProgress } from '../../hack/terminal/progress.ts';
import { noteOnFailure, removeNote } from '../support/failure-notes.ts';

export const ROOT = join(import.meta.dirname, '../..');
export const BASE = join(ROOT, 'manifests/base');
export const NAMESPACE = 'platform-system';
export const NODES = 'nodes.resources.platform.io';

let running: Cluster | undefined;

export function sharedCluster(): Cluster {
  if (running === undefined) throw new Error('call sharedCluster() in a hook or in a test');
  return running;
}

const START_TIMEOUT_MS = 120_000;

// Hooks of the root suite, because the first file that imports this module is loaded there.
before('start the cluster', async function () {
  this.timeout(START_TIMEOUT_MS);
  const progress = printProgress(process.stdout);
  const cluster = await Cluster.start({
    root: ROOT,
    env: process.env,
    signal: AbortSignal.timeout(START_TIMEOUT_MS),
    progress,
  });
  running = cluster;
  progress(`image: ${Math.round(cluster.images.serverBytes / 1e6)} MB without compression`);
  noteOnFailure(cluster, 'the state of the pods', () =>
    cluster.kubectl('get', 'pods,events', '--all-namespaces'),
  );
  const kubelet = cluster.file('control-plane/logs/kubelet.log');
  noteOnFailure(cluster.addresses, 'the log of kubelet', () => readFile(kubelet, 'utf8'));
  const proxy = cluster.file('control-plane/logs/kube-proxy.log');
  noteOnFailure(
    cluster.images,
    'the changes of rules by kube-proxy',
    async () =>
      (await readFile(proxy, 'utf8'))
        .match(/^.*(?:SyncProxyRules complete|[Ss]ync failed|Unable to).*$/gm)
        ?.join('\n') ?? '',
  );
});

after('stop the cluster', async () => {
  if (running === undefined) return;
  removeNote(running);
  removeNote(running.addresses);
  removeNote(running.images);
  await running.stop();
});
