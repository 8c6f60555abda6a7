// Connects to kube-apiserver, starts the server, and stops the server gracefully. resources/kinds/kinds.ts creates the
// copies of kinds, and serving.ts serves clients.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { CacheMetrics } from './cache/cache-metrics.ts';
import { ClusterConnection } from './cluster/connection/connection.ts';
import { startupKubeConfig } from './cluster/connection/kubeconfig.ts';
import { aborted } from './concurrency/aborted.ts';
import { readBuildInfo } from './config/build-info.ts';
import type { CompletedConfig } from './config/config.ts';
import { createLogger } from './observability/logger.ts';
import { collectProcessMetrics, createRegistry } from './observability/metrics.ts';
import { NODES } from './resources/kind.ts';
import type { KindLimits } from './resources/kinds/followed-kinds-options.ts';
import { newKinds } from './resources/kinds/kinds.ts';

/** Maximum wait for the begin of the list of nodes before serving.ts is loaded, in ms. */
const HEAD_START_MS = 1000;

/**
 * Runs the server until `stop` is aborted, then stops it gracefully. Throws StartupError if the server cannot start. Failures of the
 * cluster after the start do not end the server. `kindLimits` replaces values of KIND_LIMITS and the memory budget.
 */
export async function run(
  config: CompletedConfig,
  stop: AbortSignal,
  log: Logger = createLogger(config.log),
  kindLimits: Partial<KindLimits> = {},
): Promise<void> {
  // Reflectors and controllers run until the last response is sent, so they have their own signal.
  const work = new AbortController();
  const { signal } = work;
  const running: Promise<void>[] = [];
  const follow = (followers: readonly { run(signal: AbortSignal): Promise<void> }[]): void => {
    running.push(...followers.map((follower) => follower.run(signal)));
  };
  for (const warning of config.warnings) log.warn(`configuration: ${warning}`);
  try {
    const kubeConfig = startupKubeConfig(config.kubernetes.kubeconfig, config.environment.variables);
    const { version } = await readBuildInfo();
    const metrics = createRegistry();
    collectProcessMetrics(metrics, version);
    const client = new ClusterConnection({
      kubeConfig,
      userAgent: `ks-apiserver/${version}`,
      slowCredentials: (plugin) =>
        log.warn(`waiting for ${plugin}, which provides the credentials for kube-apiserver`),
      keptCredentials: (err) =>
        log.warn(
          { err },
          'the credentials cannot be reloaded; the current ones stay in use until kube-apiserver rejects them',
        ),
    });
    signal.addEventListener('abort', () => client.close(), { once: true });
    const kinds = newKinds(config, { client, log, cacheMetrics: new CacheMetrics(metrics), kindLimits });
    const nodes = kinds.followed.copies.hold(NODES, 'objects');
    follow([kinds.followed]);
    // Loading the other modules blocks the event loop, so the list request is sent first.
    const headStart = delay(HEAD_START_MS, undefined, { signal });
    await Promise.race([nodes.listBegan, headStart]);
    const { serve } = await import('./serving.ts');
    // If the server is stopped during its start, it opens no listener.
    if (stop.aborted) return;
    const serving = await serve(config, { version, client, kubeConfig, metrics, kinds, nodes, log }, signal);
    follow(serving.followers);
    await aborted(stop);
    await serving.drain();
  } finally {
    work.abort(new Error('the server is stopped'));
    await Promise.all(running);
    log.info('stopped');
    log.flush();
  }
}
