// The installation that a command works on: its cluster, platform and namespace. In a pod of the server these are the cluster
// and namespace of the pod, and the name in the configuration of the server.
import { existsSync } from 'node:fs';
import type { Override } from '../../apis/config/v1alpha1/error-locator.ts';
import { groupName } from '../../apis/iam/v1beta1/group-version.ts';
import type { Flags } from '../../apis/reading/command-line.ts';
import { array, record, text } from '../../apis/reading/unknown-value.ts';
import { ClusterConnection } from '../cluster/connection/connection.ts';
import { kubeConfigSource } from '../cluster/connection/kubeconfig.ts';
import { type CompletedConfig, completeConfig } from '../config/config.ts';
import { MOUNTED_CONFIGURATION } from '../config/options.ts';
import type { CommandContext } from './command.ts';

/** The flags that select an installation. */
export const INSTALLATION_FLAGS = {
  config: {
    value: 'FILE',
    description: `configuration of the server (default: ${MOUNTED_CONFIGURATION} if it exists)`,
  },
  kubeconfig: {
    value: 'FILE',
    description: 'the cluster (default: KUBECONFIG, else that of the pod, else ~/.kube/config)',
  },
  platform: {
    value: 'NAME',
    description: 'name of the platform (default: that of the configuration, else platform)',
  },
  namespace: {
    value: 'NAME',
    description: 'namespace of the server (default: that of the pod, else PLATFORM-system)',
  },
} as const satisfies Flags;

/** The values of INSTALLATION_FLAGS. */
export type InstallationArguments = Readonly<Record<keyof typeof INSTALLATION_FLAGS, string | undefined>>;

export interface Installation {
  readonly platform: string;
  readonly namespace: string;
  readonly client: ClusterConnection;
}

/** Connects to the cluster of an installation, and runs `work` with it. Throws ConfigurationError, StartupError, and an Error without a kubeconfig. */
export async function withInstallation<Result>(
  given: InstallationArguments,
  context: CommandContext,
  work: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const config = await configurationOf(given, context);
  const { name: platform, namespace } = config.platform;
  return withCluster(config, context, (client) => work({ platform, namespace, client }));
}

/** The configuration of the server, with the flags of an installation. Throws ConfigurationError, StartupError. */
export function configurationOf(
  given: Partial<InstallationArguments>,
  { environment, workingDirectory }: CommandContext,
): Promise<CompletedConfig> {
  const config = given.config ?? mountedConfiguration();
  // A platform on the command line is not that of the configuration, nor is its namespace.
  const namespace =
    given.namespace ?? (given.platform === undefined ? undefined : `${given.platform}-system`);
  return completeConfig({ config, overrides: overridesOf(given), environment, workingDirectory, namespace });
}

/** Connects to the cluster of a configuration, and runs `work` with it. Throws an Error without a kubeconfig. */
export async function withCluster<Result>(
  { kubernetes }: CompletedConfig,
  { environment, printError }: CommandContext,
  work: (client: ClusterConnection) => Promise<Result>,
): Promise<Result> {
  const kubeConfig = kubeConfigSource(kubernetes.kubeconfig || undefined, environment.variables);
  kubeConfig();
  const client = new ClusterConnection({
    kubeConfig,
    slowCredentials: (giver) => printError(`waiting for ${giver}\n`),
  });
  try {
    await client.authenticated();
    return await work(client);
  } finally {
    client.close();
  }
}

/** Throws an Error that names the platforms of the cluster if the API of users is missing in it. */
export async function requireUsers({ client, platform }: Installation, signal: AbortSignal): Promise<void> {
  const { groups } = record(await client.json({ path: '/apis', signal }));
  const names = array(groups).map((group) => text(record(group)['name']));
  const wanted = groupName(platform);
  if (names.includes(wanted)) return;
  const others = names.flatMap((name) => /^iam\.(.+)\.io$/.exec(name)?.[1] ?? []);
  const reason =
    others.length === 0
      ? 'the server is not installed there'
      : `its platform is ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(others)}: set --platform`;
  throw new Error(`the cluster has no API ${wanted}: ${reason}`);
}

/** The configuration file of the server in its container; undefined elsewhere. */
export function mountedConfiguration(): string | undefined {
  return existsSync(MOUNTED_CONFIGURATION) ? MOUNTED_CONFIGURATION : undefined;
}

function overridesOf({ kubeconfig, platform }: Partial<InstallationArguments>): Override[] {
  return [
    { path: ['kubernetes', 'kubeconfig'], value: kubeconfig, source: '--kubeconfig' },
    { path: ['platform', 'name'], value: platform, source: '--platform' },
  ].filter(({ value }) => value !== undefined);
}
