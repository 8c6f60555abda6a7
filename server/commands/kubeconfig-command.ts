// `ks-apiserver kubeconfig`: prints the kubeconfig with which people sign in to kubectl. It contains no secret.
import { KUBECTL_CLIENT } from '../../apis/oauth/kubectl-client.ts';
import { kubeloginKubeconfig } from '../../apis/oauth/kubelogin-kubeconfig.ts';
import { type CommandLine, UsageError } from '../../apis/reading/command-line.ts';
import type { CompletedConfig } from '../config/config.ts';
import { type Command, runCommandLine } from './command.ts';
import { configurationOf, INSTALLATION_FLAGS } from './installation.ts';
import { certificatesOf, servingRoots } from './serving-roots.ts';

const LINE = {
  command: 'ks-apiserver kubeconfig',
  usage: ['[options]'],
  about: `Prints a kubeconfig with which people sign in to kubectl by kubelogin. It contains no secret, and is the same for all users.
In a pod of the server, it needs no options. KUBECONFIG=FILE:OTHER merges it with other kubeconfigs.`,
  flags: {
    issuer: {
      value: 'URL',
      description: 'the issuer, such as https://api.example.com/oauth (default: oauth.issuer)',
    },
    'certificate-authority': {
      value: 'FILE',
      description:
        'CA certificates of the issuer (default: those of the server,\nif its certificate is for this host; else those of the machine of the user)',
    },
    server: {
      value: 'URL',
      description: 'the Kubernetes API (default: the address of the issuer, where the gateway is)',
    },
    'server-certificate-authority': {
      value: 'FILE',
      description: 'CA certificates of another --server (default: those of the machine of the user)',
    },
    'client-id': { value: 'ID', default: KUBECTL_CLIENT, description: 'a public client of oauth.clients' },
    'device-code': { description: 'sign in on another device: for machines without a browser' },
    name: { value: 'NAME', description: 'of the context (default: the name of the platform)' },
    config: INSTALLATION_FLAGS.config,
    kubeconfig: {
      value: 'FILE',
      description: `${INSTALLATION_FLAGS.kubeconfig.description};\nit has the CA of a certificate that the server issues itself`,
    },
  },
} as const satisfies CommandLine;

export const kubeconfigCommand: Command = (context) =>
  runCommandLine(LINE, context, async ({ values }) => {
    const config = await configurationOf({ config: values.config, kubeconfig: values.kubeconfig }, context);
    const issuer = issuerOf(values.issuer, config);
    const { origin, hostname } = new URL(issuer);
    const server = serverOf(values.server, origin, config);
    const caFile = values['certificate-authority'];
    const serverCAFile = values['server-certificate-authority'];
    if (serverCAFile !== undefined && server === origin)
      throw new UsageError('--server-certificate-authority is only valid with another --server');
    const issuerCA =
      caFile === undefined
        ? await servingRoots(config, hostname, context)
        : await certificatesOf(caFile, context);
    const serverCA = serverCAFile === undefined ? undefined : await certificatesOf(serverCAFile, context);
    context.print(
      kubeloginKubeconfig({
        name: values.name ?? config.platform.name,
        issuer,
        issuerCA,
        server,
        serverCA: server === origin ? issuerCA : serverCA,
        clientID: values['client-id'],
        deviceCode: values['device-code'],
      }),
    );
    return 0;
  });

/** Byte for byte, because tokens name it. */
function issuerOf(given: string | undefined, { oauth }: CompletedConfig): string {
  if (given === undefined && !oauth.enabled)
    throw new UsageError('oauth.enabled is false: the server has no sign-in');
  const issuer = given ?? oauth.issuer;
  if (issuer === '')
    throw new UsageError('the configuration has no oauth.issuer: set it, or pass --issuer URL');
  requireAddress('--issuer', issuer);
  if (new URL(issuer).pathname !== '/oauth') throw new UsageError('--issuer must have the path /oauth');
  return issuer;
}

function serverOf(given: string | undefined, origin: string, { gateway }: CompletedConfig): string {
  if (given !== undefined) {
    requireAddress('--server', given);
    return given.replace(/\/$/, '');
  }
  if (!gateway.enabled)
    throw new UsageError('gateway.enabled is false: pass the address of kube-apiserver with --server URL');
  return origin;
}

/** Rejects addresses at which tokens would be readable, and secrets in addresses. */
function requireAddress(flag: string, address: string): void {
  const { protocol, username, password, search, hash } = URL.parse(address) ?? {};
  if (protocol !== 'https:' || username || password || search || hash)
    throw new UsageError(`${flag} must be an https URL without user, query and fragment`);
}
