// The kubeconfig of a user of kubectl with kubelogin. It contains no secret: kubelogin signs the user in.
import { stringify } from 'yaml';
import { KUBECTL_CLIENT } from './kubectl-client.ts';

export interface KubeconfigTarget {
  /** Of the cluster, the user and the context. */
  readonly name: string;
  /** Its origin is also the address of the API. */
  readonly issuer: string;
  /** CA certificates for the address `host`, PEM; undefined for those of the user's machine. */
  readonly caAt: (host: string) => string | undefined;
}

/** Returns YAML. */
export function kubeloginKubeconfig({ name, issuer, caAt }: KubeconfigTarget): string {
  const { origin: server, hostname } = new URL(issuer);
  const ca = caAt(hostname);
  const caData = ca === undefined ? undefined : Buffer.from(ca).toString('base64');
  const exec = {
    // kubelogin of 2024 rejects v1.
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    command: 'kubectl',
    args: [
      'oidc-login',
      'get-token',
      `--oidc-issuer-url=${issuer}`,
      `--oidc-client-id=${KUBECTL_CLIENT}`,
      '--oidc-use-access-token',
      ...(caData === undefined ? [] : [`--certificate-authority-data=${caData}`]),
    ],
    interactiveMode: 'IfAvailable',
    installHint: 'Install kubelogin, version 1.29 or later: https://github.com/int128/kubelogin#setup',
  };
  const cluster = { server, ...(caData === undefined ? {} : { 'certificate-authority-data': caData }) };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: [{ name, user: { exec } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  // Does not fold lines.
  return stringify(config, { lineWidth: 0 });
}
