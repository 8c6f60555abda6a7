// `npm run cluster`: a real single-node Kubernetes cluster with the server in pods. hack/cluster/ contains the setup steps.
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { clusterAnnouncement } from './cluster/announcement.ts';
import { Cluster } from './cluster/cluster.ts';
import { runUntilStopped } from './start/program.ts';
import { runScript } from './terminal/script.ts';
import { parseCommandLine, UsageError } from './terminal/usage.ts';

const root = join(import.meta.dirname, '..');

const HELP = `Usage: npm run cluster -- [--overlay FOLDER]

Starts a real single-node Kubernetes cluster (kubelet, containerd, kube-proxy) in namespaces of its own, builds the image
of the server and installs it. Needs root on Debian. Ctrl-C removes everything. docs/real-cluster.md has more.

  --overlay FOLDER  kustomization to apply (default manifests/base)
  -h, --help        this text`;

await runScript(async () => {
  const { values } = parseCommandLine({
    options: {
      overlay: { type: 'string', default: 'manifests/base' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
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
      progress(`cluster: applying ${values.overlay}`);
      await cluster.applyOverlay(overlay);
      await cluster.trustServer();
    } catch (error) {
      // Before the end of the cluster, which is a consequence.
      life.abort(error);
      await cluster.stop();
      throw error;
    }
    return { announcement: clusterAnnouncement(cluster, values.overlay), stop: cluster.stop };
  });
});
