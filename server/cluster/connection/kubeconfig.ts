import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { record } from '../../../apis/reading/unknown-value.ts';
import { kubeConfigClass } from './client-node.ts';
import { useExecPlugins } from './exec-plugins.ts';
import { describeFileError } from './file-error.ts';

export interface KubeConfigPlaces {
  /** Tells that we run in a pod. */
  readonly serviceAccountToken: string;
  /** What is left when nothing was given. */
  readonly home: string;
}

const PLACES: KubeConfigPlaces = {
  serviceAccountToken: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  home: join(homedir(), '.kube', 'config'),
};

/**
 * Gives the KubeConfig to use now: of `files` (several are separated as in PATH and merged, the first one wins), else
 * the service account of the pod, else the one of the home folder. Files are read again each time, but one KubeConfig
 * lives as long as their text, because it keeps the tokens that exec plugins gave it; `anew`: these were refused. Throws
 * when there is none, or none that names a cluster. `inherited`: the environment of exec plugins.
 */
export function kubeConfigSource(
  files: string | undefined,
  inherited: NodeJS.ProcessEnv = {},
  places: KubeConfigPlaces = PLACES,
): (anew?: boolean) => KubeConfig {
  let text: string | undefined;
  let config: KubeConfig | undefined;
  return (anew = false) => {
    const paths = pathsOf(files, places);
    const texts = paths.map(textOf);
    const next = texts.join('\0');
    if (config && text === next && !anew) return config;
    config = paths.length === 0 ? inCluster() : merged(paths, texts, inherited);
    text = next;
    return config;
  };
}

/** None means the service account. */
function pathsOf(files: string | undefined, { serviceAccountToken, home }: KubeConfigPlaces): string[] {
  const given = (files ?? '').split(delimiter).filter((path) => path !== '');
  if (given.length === 1) return given;
  if (given.length > 1) {
    const present = given.filter((path) => existsSync(path));
    if (present.length === 0) throw new Error(`none of the kubeconfig files exists: ${given.join(', ')}`);
    return present;
  }
  if (existsSync(serviceAccountToken)) return [];
  if (existsSync(home)) return [home];
  throw new Error(`no kubeconfig was given, this is not a pod, and there is no ${home}`);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${path}: ${describeFileError(error)}`, { cause: error });
  }
}

function inCluster(): KubeConfig {
  const Config = kubeConfigClass();
  const config = new Config();
  config.loadFromCluster();
  return config;
}

function merged(
  paths: readonly string[],
  texts: readonly string[],
  inherited: NodeJS.ProcessEnv,
): KubeConfig {
  const Config = kubeConfigClass();
  const [first, ...others] = paths.map((path, i) => {
    const config = new Config();
    try {
      config.loadFromString(texts[i] ?? '');
    } catch (error) {
      throw unreadableKubeConfig(path, error);
    }
    config.makePathsAbsolute(dirname(path));
    return config;
  });
  if (!first) throw new Error('no kubeconfig');
  for (const other of others) addMissing(first, other);
  checkUsable(first, paths.join(delimiter));
  useExecPlugins(first, { inherited });
  return first;
}

function addMissing(to: KubeConfig, from: KubeConfig): void {
  const lacks = (known: readonly { name: string }[]) => (entry: { name: string }) =>
    known.every(({ name }) => name !== entry.name);
  to.clusters = [...to.clusters, ...from.clusters.filter(lacks(to.clusters))];
  to.users = [...to.users, ...from.users.filter(lacks(to.users))];
  to.contexts = [...to.contexts, ...from.contexts.filter(lacks(to.contexts))];
  to.currentContext ||= from.currentContext;
}

// What keeps a kubeconfig from being used. Its text is never repeated: there are tokens and keys in it.
/** A kubeconfig that was read and names no cluster to talk to, however often it is tried; `message` holds the cure. */
export class UnusableKubeConfigError extends Error {
  override readonly name = 'UnusableKubeConfigError';
}

/** Why text is not a kubeconfig at all. `error`: what client-node reported; YAML parsers quote the lines around a fault. */
export function unreadableKubeConfig(path: string, error: unknown): Error {
  const { reason, mark } = record(error);
  const { line } = record(mark);
  const where = typeof line === 'number' ? `${path}:${line + 1}` : path;
  if (typeof reason === 'string') return new Error(`${where}: is not YAML: ${reason}`);
  // A TypeError of the parser helps nobody.
  const said = error instanceof Error && !(error instanceof TypeError) ? error.message : 'is no kubeconfig';
  return new Error(`${path}: ${said}`);
}

/** Throws what client-go refuses too. `name`: of the files, for people. */
export function checkUsable(config: KubeConfig, name: string): void {
  const fault = faultIn(config);
  if (fault !== undefined) throw new UnusableKubeConfigError(`${name}: ${fault}`);
}

function faultIn(config: KubeConfig): string | undefined {
  const current = config.getCurrentContext();
  const known = config.getContexts().map((context) => context.name);
  const choose = `choose one with: kubectl config use-context ${known.length === 0 ? 'NAME' : known.join(' | ')}`;
  if (!current) return `has no current context; ${choose}`;
  const context = config.getContextObject(current);
  if (!context) return `its current context "${current}" is not in it; ${choose}`;
  const cluster = config.getCluster(context.cluster);
  if (!cluster) {
    return `its current context "${current}" names the cluster "${context.cluster}", which is not in it; add it with: kubectl config set-cluster ${context.cluster} --server https://…`;
  }
  const protocol = URL.parse(cluster.server)?.protocol ?? '';
  if (!['https:', 'http:'].includes(protocol)) {
    return `the server of its cluster "${cluster.name}" is no address; give it with: kubectl config set-cluster ${cluster.name} --server https://…`;
  }
  // A context may name no user; that is everybody.
  if (context.user && !config.getUser(context.user)) {
    return `its current context "${current}" names the user "${context.user}", which is not in it; add it with: kubectl config set-credentials ${context.user}`;
  }
  return undefined;
}
