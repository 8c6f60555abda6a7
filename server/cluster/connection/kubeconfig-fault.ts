// What keeps a kubeconfig from being used. Its text is never repeated: there are tokens and keys in it.
import type { KubeConfig } from '@kubernetes/client-node';
import { record } from '../../../apis/reading/unknown-value.ts';

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
