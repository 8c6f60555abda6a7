// Creates the text with example commands that `npm run cluster` prints when the server is available.
import { shellWord } from '../terminal/shell-word.ts';
import type { Cluster } from './cluster.ts';

const MEGABYTE = 1_000_000;

export function clusterAnnouncement(cluster: Cluster, overlay: string): string {
  const { addresses, images, pid, kubeconfig, kubectlProgram } = cluster;
  const range = '198.18.0.0/15';
  return [
    `The image has ${Math.round(images.serverBytes / MEGABYTE)} MB without compression. ${overlay} is applied.`,
    'In another terminal, as root:',
    '',
    `  export KUBECONFIG=${shellWord(kubeconfig)} PATH=${shellWord(kubectlProgram.replace(/\/kubectl$/, ''))}:"$PATH"`,
    // oxlint-disable-next-line no-template-curly-in-string
    `  export no_proxy="${range}\${no_proxy:+,$no_proxy}"`,
    '  kubectl get pods --all-namespaces -o wide',
    '  kubectl get nodes.resources.platform.io',
    '  kubectl -n platform-system logs deployment/ks-apiserver',
    '  kubectl -n platform-system get secret ks-apiserver-admin -o jsonpath={.data.password} | base64 --decode',
    '  kubectl -n platform-system rollout restart deployment/ks-apiserver',
    '',
    'This machine reaches pods, ClusterIPs and NodePorts:',
    '',
    '  kubectl -n platform-system get service ks-apiserver',
    `  curl --insecure https://${addresses.node}:NODEPORT/readyz?verbose   # with --overlay manifests/overlays/node-port`,
    '',
    'A shell on the node:',
    '',
    `  nsenter --target ${pid} --all`,
    '',
    'Ctrl-C removes the cluster.',
  ].join('\n');
}
