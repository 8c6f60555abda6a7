// The program from its start to its end: what everything stands on, and the order in which parts begin and end. Started
// by main.ts; nodes.ts puts together the nodes, serving.ts all that answers callers.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { StartupError } from '../apis/config/v1alpha1/startup-error.ts';
import { messageOf } from '../apis/reading/thrown-value.ts';
import { readBuildInfo } from './build-info.ts';
import { ClusterConnection } from './cluster/connection/connection.ts';
import { kubeConfigSource, UnusableKubeConfigError } from './cluster/connection/kubeconfig.ts';
import { aborted } from './concurrency/aborted.ts';
import type { CompletedConfig } from './config.ts';
import { newNodes } from './nodes.ts';
import { createLogger } from './observability/logger.ts';
import { collectProcessMetrics, createRegistry } from './observability/metrics.ts';

/** How long the cluster has to begin its answer before the rest is loaded all the same, in ms. */
const HEAD_START_MS = 100;

/**
 * Serves until `stop` is aborted, then drains. Throws StartupError when it cannot start; whatever happens to the
 * cluster afterwards does not end it.
 */
export async function run(
  config: CompletedConfig,
  stop: AbortSignal,
  log: Logger = createLogger(config.log),
): Promise<void> {
  // What feeds the answers goes on until the last of them is sent, so it ends with a signal of its own.
  const work = new AbortController();
  const { signal } = work;
  const running: Promise<void>[] = [];
  const follow = (followers: readonly { run(signal: AbortSignal): Promise<void> }[]): void => {
    running.push(...followers.map((follower) => follower.run(signal)));
  };
  try {
    const kubeConfig = findKubeConfig(config);
    const { version } = await readBuildInfo();
    const metrics = createRegistry();
    collectProcessMetrics(metrics, version);
    const client = new ClusterConnection({
      kubeConfig,
      userAgent: `ks-apiserver/${version}`,
      slowCredentials: (giver) =>
        log.warn(`waiting for ${giver}, without whose credentials kube-apiserver cannot be asked`),
      keptCredentials: (err) =>
        log.warn(
          { err },
          'the credentials cannot be read anew; those in hand are used until they are refused',
        ),
    });
    signal.addEventListener('abort', () => client.close(), { once: true });
    const nodes = newNodes(config, { client, log, metrics });
    follow(nodes.followers);
    // Loading the other half of the modules blocks the event loop, so the cluster is asked for its list first.
    const headStart = delay(HEAD_START_MS, undefined, { signal });
    await Promise.race([client.answered, headStart]);
    const { serve } = await import('./serving.ts');
    // Told to stop during the start: a socket that is opened now would only have to be drained.
    if (stop.aborted) return;
    const serving = await serve(config, { version, client, metrics, nodes, log }, signal);
    follow(serving.followers);
    await aborted(stop);
    await serving.drain();
  } finally {
    work.abort(new Error('the server has stopped'));
    await Promise.all(running);
    log.info('stopped');
    log.flush();
  }
}

/** Looks once, because later a missing or useless kubeconfig could only be told as a cluster that cannot be reached. */
function findKubeConfig({
  kubernetes: { kubeconfig },
  environment,
}: CompletedConfig): ReturnType<typeof kubeConfigSource> {
  const source = kubeConfigSource(kubeconfig || undefined, environment.variables);
  try {
    source();
  } catch (error) {
    const reason = messageOf(error);
    const cure = 'name a readable kubeconfig with --kubeconfig or KUBECONFIG';
    const message = error instanceof UnusableKubeConfigError ? reason : `${reason}; ${cure}`;
    throw new StartupError('ERR_KUBECONFIG', `kubeconfig: ${message}`, { cause: error });
  }
  return source;
}
