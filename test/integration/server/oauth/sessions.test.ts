// Tests of the session store against a real control plane, with two replicas.
import { randomBytes } from 'node:crypto';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { pino } from 'pino';
import { Admission } from '../../../../server/admission/admission.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import type { KeyRing } from '../../../../server/oauth/keys/key-ring.ts';
import { ClusterSessionStore } from '../../../../server/oauth/sessions/cluster-session-store.ts';
import { describeSessionStore } from '../../../conformance/session-store.suite.ts';
import { FreezingProxy } from '../../../support/cluster/freezing-proxy.ts';
import { memoryKeyRing } from '../../../support/oauth/memory-key-ring.ts';
import { newSession } from '../../../support/oauth/new-session.ts';
import { until } from '../../../support/until.ts';
import { type IamCluster, object, ROOT_USER } from '../iam/iam-cluster.ts';
import { clearedCluster } from '../iam/shared-cluster.ts';
import { SERVER_USER } from '../registration/registered-cluster.ts';

describe('sessions as custom resources, with two replicas', () => {
  const { signal } = new AbortController();
  const stopping: (() => Promise<void>)[] = [];
  let cluster: IamCluster;
  let kubeconfig: string;
  let keys: KeyRing;
  let a: ClusterSessionStore;
  let b: ClusterSessionStore;

  before(async () => {
    cluster = await clearedCluster();
    kubeconfig = await cluster.controlPlane.kubeconfigFor(SERVER_USER);
    keys = await memoryKeyRing();
    const { apiserver } = cluster.controlPlane.ports;
    [a, b] = await Promise.all([replica(apiserver), replica(apiserver)]);
  });
  after(async () => {
    for (const stop of stopping) await stop();
  });

  /** The session store of a replica with its own connection, to this port of the loopback address. */
  async function replica(port: number, staleAfterMs?: number): Promise<ClusterSessionStore> {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const server = `https://127.0.0.1:${port}`;
    config.clusters = config.clusters.map((known) => ({ ...known, server }));
    const client = new ClusterConnection({ kubeConfig: () => config });
    const log = pino({ level: 'silent' });
    const timing = staleAfterMs === undefined ? {} : { staleAfterMs };
    const store = new ClusterSessionStore({
      client,
      keys,
      group: 'iam.platform.io',
      lookups: new Admission().lookups(),
      log,
      ...timing,
    });
    const end = new AbortController();
    const running = store.run(end.signal);
    stopping.push(async () => {
      end.abort(new Error('the replica has ended'));
      await running;
      client.close();
    });
    await until(() => store.fresh);
    return store;
  }

  describeSessionStore('the cluster', () => ({ stores: [a, b] }));

  const create = () => a.create(newSession({ id: a.newID(randomBytes) }), signal);

  it('cannot be forged with the permission to create objects', async () => {
    const { id } = await create();
    const saved = await cluster.kubectl(['get', 'session', id, '-o', 'json']);
    const { spec } = JSON.parse(saved) as { spec: object };
    const [other, admin] = [a.newID(randomBytes), a.newID(randomBytes)];
    await cluster.write(ROOT_USER, 'create', object('Session', other, spec));
    await cluster.write(ROOT_USER, 'create', object('Session', admin, { ...spec, user: 'admin' }));
    expect(await a.read(other, { signal })).to.equal(undefined);
    expect(await b.read(admin, { signal })).to.equal(undefined);
    await until(() => [...b.all()].some(({ name }) => name === admin));
    expect(b.get(admin)).to.equal(undefined);
    await cluster.kubectl(['patch', 'session', id, '--type=merge', '-p', '{"spec":{"user":"admin"}}']);
    expect(await a.read(id, { signal })).to.equal(undefined);
    await until(() => a.get(id) === undefined);
  });

  it('become stale soon after the watch falls silent, and recover with it', async () => {
    const proxy = await FreezingProxy.start(cluster.controlPlane.ports.apiserver);
    const quiet = await replica(proxy.port, 12_000);
    stopping.push(() => proxy.stop());
    const { id } = await create();
    await until(() => quiet.get(id) !== undefined);
    proxy.freeze();
    proxy.freezeNew();
    await a.delete(id, signal);
    await until(() => !quiet.fresh);
    proxy.thaw();
    proxy.cut();
    await until(() => quiet.fresh && quiet.get(id) === undefined);
  });
});
