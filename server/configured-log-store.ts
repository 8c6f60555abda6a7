import type { Logger } from 'pino';
import type { ClusterClient } from './cluster/connection/client.ts';
import type { Turns } from './concurrency/turns.ts';
import type { CompletedConfig } from './config.ts';
import type { LogBackend } from './logging/log-store.ts';

/** The store that the configuration names. Its client is loaded only then. */
export async function newLogStore(
  { store, kubernetes, opensearch, victorialogs }: CompletedConfig['logging'],
  {
    client,
    log: parent,
    turns,
  }: { readonly client: ClusterClient; readonly log: Logger; readonly turns: Turns },
): Promise<LogBackend> {
  const log = parent.child({ store });
  if (store === 'opensearch') {
    const { OpenSearchLogStore } = await import('./logging/backends/opensearch/opensearch-log-store.ts');
    return new OpenSearchLogStore({ ...opensearch, turns });
  }
  if (store === 'victorialogs') {
    const { VictoriaLogsLogStore } = await import(
      './logging/backends/victorialogs/victorialogs-log-store.ts'
    );
    return new VictoriaLogsLogStore({ ...victorialogs, log, turns });
  }
  const { KubernetesLogStore } = await import('./logging/backends/kubernetes/kubernetes-log-store.ts');
  return new KubernetesLogStore({ client, log, turns, limits: kubernetes });
}
