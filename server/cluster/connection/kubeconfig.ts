// Loader of the kubeconfig, with validation. Errors never contain text of a kubeconfig, because kubeconfigs hold
// tokens and private keys.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { StartupError } from '../../../apis/config/v1alpha1/startup-error.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { record } from '../../../apis/reading/unknown-value.ts';
import { describeFileError } from '../../files/file-error.ts';
import { readFileOrPipe } from '../../files/text-file.ts';
import { kubeConfigClass } from './client-node.ts';
import { useExecPlugins } from './exec-plugins.ts';
import { selectTokenFiles, TokenFiles } from './token-files.ts';

interface KubeConfigPaths {
  /** The token file of the ServiceAccount; it exists in a pod only. */
  readonly serviceAccountToken: string;
  /** The kubeconfig in the home directory. */
  readonly home: string;
}

const PATHS: KubeConfigPaths = {
  serviceAccountToken: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  home: join(homedir(), '.kube', 'config'),
};

/**
 * Returns a function that loads the KubeConfig. The source is `files`, else the ServiceAccount of the pod, else the
 * kubeconfig in the home directory. `files` are separated as in PATH and merged; the first definition of a name wins.
 * Each call reads the files. While their text is unchanged, it returns the same KubeConfig object, which caches the
 * tokens of exec plugins. `reload` discards that cache, after kube-apiserver has rejected a token. Throws without a
 * usable kubeconfig. `inherited`: the environment variables of exec plugins.
 */
export function kubeConfigSource(
  files: string | undefined,
  inherited: NodeJS.ProcessEnv = {},
  places: KubeConfigPaths = PATHS,
): (reload?: boolean) => KubeConfig {
  let text: string | undefined;
  let config: KubeConfig | undefined;
  const piped = new Map<string, string>();
  return (reload = false) => {
    const paths = pathsOf(files, places);
    const texts = paths.map((path) => textOf(path, piped));
    const next = texts.join('\0');
    if (config && text === next && !reload) return config;
    config = paths.length === 0 ? inCluster() : merged(paths, texts, inherited);
    text = next;
    return config;
  };
}

/**
 * Returns the kubeconfig source of the server. Loads it once, because a later error would look like an unreachable cluster.
 * Throws StartupError.
 */
export function startupKubeConfig(
  files: string,
  inherited: NodeJS.ProcessEnv,
): ReturnType<typeof kubeConfigSource> {
  const source = kubeConfigSource(files || undefined, inherited);
  try {
    source();
  } catch (error) {
    const reason = messageOf(error);
    const cure = 'set a readable kubeconfig with --kubeconfig or KUBECONFIG';
    const message = error instanceof UnusableKubeConfigError ? reason : `${reason}; ${cure}`;
    throw new StartupError('ERR_KUBECONFIG', `kubeconfig: ${message}`, { cause: error });
  }
  return source;
}

/** Returns the kubeconfig files to load; an empty list selects the ServiceAccount. */
function pathsOf(files: string | undefined, { serviceAccountToken, home }: KubeConfigPaths): string[] {
  const given = (files ?? '').split(delimiter).filter((path) => path !== '');
  if (given.length === 1) return given;
  if (given.length > 1) {
    const present = given.filter((path) => existsSync(path));
    if (present.length === 0) throw new Error(`no kubeconfig file exists: ${given.join(', ')}`);
    return present;
  }
  if (existsSync(serviceAccountToken)) return [];
  if (existsSync(home)) return [home];
  throw new Error(
    `no kubeconfig: neither --kubeconfig nor KUBECONFIG is set, this is not a pod, and ${home} does not exist`,
  );
}

/** `piped`: the texts of pipes, which can be read only once, such as those of `<(command)` in a shell. */
function textOf(path: string, piped: Map<string, string>): string {
  const known = piped.get(path);
  if (known !== undefined) return known;
  try {
    const { text, isPipe } = readFileOrPipe(path);
    if (isPipe) piped.set(path, text);
    return text;
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
    selectTokenFiles(config, texts[i] ?? '', dirname(path));
    return config;
  });
  if (!first) throw new Error('no kubeconfig');
  for (const other of others) addMissing(first, other);
  checkUsable(first, paths.join(delimiter));
  useExecPlugins(first, { inherited });
  first.addAuthenticator(new TokenFiles());
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

/** A kubeconfig that selects no cluster. The message says what to change; a retry does not help. */
class UnusableKubeConfigError extends Error {
  override readonly name = 'UnusableKubeConfigError';
}

/**
 * Returns an Error for text that is not a kubeconfig. `error`: the error of client-node. The message of a YAML error is
 * not used, because it quotes lines of the file; its reason and line number are.
 */
function unreadableKubeConfig(path: string, error: unknown): Error {
  const { reason, mark } = record(error);
  const { line } = record(mark);
  const where = typeof line === 'number' ? `${path}:${line + 1}` : path;
  if (typeof reason === 'string') return new Error(`${where}: is not YAML: ${reason}`);
  // A TypeError comes from inside the parser, and its message does not help an operator.
  const reported =
    error instanceof Error && !(error instanceof TypeError) ? error.message : 'is not a kubeconfig';
  return new Error(`${path}: ${reported}`);
}

/**
 * Throws UnusableKubeConfigError for a kubeconfig that client-go rejects. `name`: the kubeconfig files, for messages.
 */
function checkUsable(config: KubeConfig, name: string): void {
  const problem = problemOf(config);
  if (problem !== undefined) throw new UnusableKubeConfigError(`${name}: ${problem}`);
}

function problemOf(config: KubeConfig): string | undefined {
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
    return `the server of its cluster "${cluster.name}" is not a URL; set it with: kubectl config set-cluster ${cluster.name} --server https://…`;
  }
  // Requests of a context without a user are anonymous.
  if (context.user && !config.getUser(context.user)) {
    return `its current context "${current}" names the user "${context.user}", which is not in it; add it with: kubectl config set-credentials ${context.user}`;
  }
  return undefined;
}
