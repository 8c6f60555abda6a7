import { ClusterConnection } from '../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../server/cluster/connection/kubeconfig.ts';

/** Works with the cluster of `--kubeconfig`, or else of KUBECONFIG, or of ~/.kube/config; where there is none, says so at once. */
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
