// The kubeconfig of a user of kubectl with kubelogin. It contains no secret: kubelogin signs the user in.
import { stringify } from 'yaml';
import { KUBECTL_CLIENT } from './kubectl-client.ts';

/** Addresses and their CA certificates (PEM); without certificates, those that the user's machine trusts. */
interface KubeconfigTarget {
  /** Of the cluster, the user and the context. */
  readonly name: string;
  readonly issuer: string;
  readonly issuerCA?: string | undefined;
  /** Address of the Kubernetes API. */
  readonly server: string;
  readonly serverCA?: string | undefined;
  /** A public client with the authorization code grant or the device flow. */
  readonly clientID?: string;
  /** For machines without a browser: the user signs in on another device. */
  readonly deviceCode?: boolean;
}

/** The plugin as krew and Homebrew install it, and as `kubectl oidc-login` finds it. */
export const KUBELOGIN = 'kubectl-oidc_login';

const INSTALL_HINT = `Signing in needs kubelogin 1.29 or later. Install it with one of:
  kubectl krew install oidc-login
  brew install kubelogin
  choco install kubelogin
or save a release of https://github.com/int128/kubelogin/releases as ${KUBELOGIN} on your PATH.`;

/** Returns YAML. */
export function kubeloginKubeconfig({
  name,
  issuer,
  issuerCA,
  server,
  serverCA,
  clientID = KUBECTL_CLIENT,
  deviceCode = false,
}: KubeconfigTarget): string {
  const exec = {
    // kubelogin responds with v1beta1 to clients that do not say which version they need.
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    // Not `kubectl oidc-login`: kubectl shows the hint only if it cannot find the command.
    command: KUBELOGIN,
    args: [
      'get-token',
      `--oidc-issuer-url=${issuer}`,
      `--oidc-client-id=${clientID}`,
      '--oidc-use-access-token',
      ...(deviceCode ? ['--grant-type=device-code', '--skip-open-browser'] : []),
      ...(issuerCA === undefined ? [] : [`--certificate-authority-data=${base64(issuerCA)}`]),
    ],
    // kubelogin reads no input, so `kubectl apply -f -` keeps it.
    interactiveMode: 'Never',
    installHint: INSTALL_HINT,
  };
  const cluster = {
    server,
    ...(serverCA === undefined ? {} : { 'certificate-authority-data': base64(serverCA) }),
  };
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

function base64(pem: string): string {
  return Buffer.from(pem).toString('base64');
}
