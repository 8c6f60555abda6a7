// Starts a control plane and the session stores of several replicas. A test can freeze the connections of a replica.
import { KubeConfig } from '@kubernetes/client-node';
import { pino } from 'pino';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import type { KeyRing } from '../../../../server/oauth/keys/key-ring.ts';
import { ClusterSessionStore } from '../../../../server/oauth/sessions/cluster-session-store.ts';
import { FreezingProxy } from '../../../support/cluster/freezing-proxy.ts';
import { memoryKeyRing } from '../../../support/oauth/memory-key-ring.ts';
import { until } from '../../../support/until.ts';
import type { IamCluster } from '../iam/iam-cluster.ts';
import { SERVER_USER } from '../registration/registered-cluster.ts';

export const GROUP = 'iam.platform.io';
export const log = pino({ level: 'silent' });

/** The session store of one replica, with its own connection that can be frozen. */
export interface Replica {
  readonly store: ClusterSessionStore;
  readonly client: ClusterClient;
  readonly proxy: FreezingProxy;
  stop(): Promise<void>;
}

/** A control plane with our custom resources and permissions, and its replicas. */
export class SessionReplicas {
  readonly cluster: IamCluster;
  readonly keys: KeyRing;
  readonly #kubeconfig: string;
  readonly #replicas: Replica[] = [];

  private constructor(cluster: IamCluster, keys: KeyRing, kubeconfig: string) {
    this.cluster = cluster;
    this.keys = keys;
    this.#kubeconfig = kubeconfig;
  }

  static async start(cluster: IamCluster): Promise<SessionReplicas> {
    const kubeconfig = await cluster.controlPlane.kubeconfigFor(SERVER_USER);
    return new SessionReplicas(cluster, await memoryKeyRing(), kubeconfig);
  }

  async stop(): Promise<void> {
    for (const replica of this.#replicas) await replica.stop();
  }

  async replica(
    options: { readonly staleAfterMs?: number; readonly monotonic?: () => number } = {},
  ): Promise<Replica> {
    const proxy = await FreezingProxy.start(this.cluster.controlPlane.ports.apiserver);
    const config = new KubeConfig();
    config.loadFromFile(this.#kubeconfig);
    config.clusters = config.clusters.map((known) => ({
      ...known,
      server: `https://127.0.0.1:${proxy.port}`,
    }));
    const client = new ClusterConnection({ kubeConfig: () => config });
    const store = new ClusterSessionStore({ client, keys: this.keys, group: GROUP, log, ...options });
    const end = new AbortController();
    const running = store.run(end.signal);
    let stopped: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      end.abort(new Error('the replica has ended'));
      await running;
      client.close();
      await proxy.stop();
    };
    const replica = { store, client, proxy, stop: () => (stopped ??= stop()) };
    this.#replicas.push(replica);
    await until(() => store.fresh);
    return replica;
  }
}
