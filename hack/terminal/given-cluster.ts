// Client of the command-line tools for the cluster in the user's kubeconfig.
import type { Flag } from '../../apis/reading/command-line.ts';
import { ClusterConnection } from '../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../server/cluster/connection/kubeconfig.ts';

/** The flag of the cluster. */
export const KUBECONFIG = {
  value: 'FILE',
  description: 'the cluster (default: KUBECONFIG, then ~/.kube/config)',
} as const satisfies Flag;

/**
 * Connects to the cluster of `--kubeconfig`, KUBECONFIG or ~/.kube/config, and runs `work` with the connection.
 * Throws if there is no kubeconfig.
 */
export async function withGivenCluster<Result>(
  kubeconfig: string | undefined,
  work: (cluster: ClusterConnection) => Promise<Result>,
): Promise<Result> {
  const kubeConfig = kubeConfigSource(kubeconfig ?? process.env['KUBECONFIG'], process.env);
  kubeConfig();
  const cluster = new ClusterConnection({
    kubeConfig,
    slowCredentials: (giver) => process.stderr.write(`waiting for ${giver}\n`),
  });
  try {
    await cluster.authenticated();
    return await work(cluster);
  } finally {
    cluster.close();
  }
}
