// `npm run cluster`: a real single-node Kubernetes cluster with the server in pods. hack/cluster/ contains the setup steps.
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type CommandLine, UsageError } from '../apis/reading/command-line.ts';
import { clusterAnnouncement } from './cluster/announcement.ts';
import { Cluster } from './cluster/cluster.ts';
import { runUntilStopped } from './start/program.ts';
import { stepsWith } from './start/steps.ts';
import { runScript } from './terminal/script.ts';

const root = join(import.meta.dirname, '..');

const LINE = {
  command: 'npm run cluster --',
  usage: ['[--overlay FOLDER]'],
  about: `Starts a real single-node Kubernetes cluster (kubelet, containerd, kube-proxy) in namespaces of its own, builds the image
of the server and installs it. Needs root on Debian. Ctrl-C removes everything. CONTRIBUTING.md has more.`,
  flags: {
    overlay: { value: 'FOLDER', default: 'manifests/base', description: 'kustomization to apply' },
  },
} as const satisfies CommandLine;

await runScript(LINE, async ({ values }) => {
  const overlay = resolve(values.overlay);
  await access(join(overlay, 'kustomization.yaml')).catch(() => {
    throw new UsageError(`--overlay ${values.overlay}: the folder has no kustomization.yaml`);
  });
  return runUntilStopped(async (life, progress) => {
    const cluster = await Cluster.start({ root, env: process.env, signal: life.signal, progress });
    void cluster.failure.then((error) => life.abort(error));
    // Commands that wait for pods fail then.
    life.signal.addEventListener('abort', () => void cluster.stop(), { once: true });
    try {
      await stepsWith(progress)(`cluster: applying ${values.overlay}`, async () => {
        await cluster.applyOverlay(overlay);
        await cluster.trustServer();
      });
    } catch (error) {
      // Before the end of the cluster, which is a consequence.
      life.abort(error);
      await cluster.stop();
      throw error;
    }
    return { announcement: clusterAnnouncement(cluster, values.overlay), stop: cluster.stop };
  });
});
