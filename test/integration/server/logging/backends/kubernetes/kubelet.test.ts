// Tests of pod logs against a real kube-apiserver and a fake kubelet.
import { expect } from 'chai';
import pino from 'pino';
import { ClusterConnection } from '../../../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../../../server/cluster/connection/kubeconfig.ts';
import { KubernetesLogStore } from '../../../../../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import type { PageRequest, Selection } from '../../../../../../server/logging/store/log-store.ts';
import { PODS } from '../../../../../../server/resources/kind.ts';
import { KindCopies } from '../../../../../../server/resources/kinds/kind-copies.ts';
import { call } from '../../../../../support/logging/call.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { until } from '../../../../../support/until.ts';
import { at, everything } from '../../../../../unit/server/logging/backends/kubernetes/instants.ts';
import { KubeletLog } from '../../../../../unit/server/logging/backends/kubernetes/kubelet-log.ts';
import { Tail } from '../../../../../unit/server/logging/backends/kubernetes/tail.ts';
import { sharedNodes } from '../../../rest/shared-nodes.ts';
import { KubeletCluster, running } from './kubelet-cluster.ts';

const oldest: PageRequest = { order: 'asc', size: 100, from: 0 };

describe('pod logs through a real kube-apiserver', () => {
  const ending = new AbortController();
  const runs: Promise<void>[] = [];
  let cluster: KubeletCluster;
  let store: KubernetesLogStore;
  let namespaces = 0;
  let namespace = '';

  /** A store with the credentials of a kubeconfig. */
  function newStore(kubeconfig: string): KubernetesLogStore {
    const client = new ClusterConnection({ kubeConfig: kubeConfigSource(kubeconfig) });
    const log = pino({ enabled: false });
    const copies = new KindCopies({ client, log, domain: 'platform.io', features: { podLogs: true } });
    const created = new KubernetesLogStore({
      client,
      log,
      pods: () => copies.hold(PODS),
      limits: {
        maxContainers: 50,
        concurrentReads: 4,
        followedLogs: 100,
        bytesPerContainer: 1 << 20,
        memory: 1 << 20,
      },
      followTuning: { initialBackoffMs: 10 },
    });
    const running = [created, copies].map((each) => each.run(ending.signal));
    runs.push(Promise.all(running).then(() => client.close()));
    return created;
  }

  before(async () => {
    cluster = await KubeletCluster.start((await sharedNodes()).controlPlane);
    store = newStore(cluster.cp.kubeconfig);
  });

  after(async () => {
    ending.abort();
    await Promise.all(runs);
    await cluster.stop();
  });

  beforeEach(async () => {
    namespace = `logs-${++namespaces}`;
    await cluster.createNamespace(namespace);
    // Starts the watch of pods.
    await store.query(everything, oldest, call());
  });

  const own = (): Selection => ({
    ...everything,
    scope: { everything: false, namespaces: [{ name: namespace, since: everything.range.start }] },
  });

  it('are followed through the end of a stream, a rotation, a restart, and the deletion of the pod', async () => {
    const tail = new Tail(store, own());
    const log = new KubeletLog([at(1, 'one')]);
    const container = await cluster.createPod(namespace, 'a', log);
    await tail.until('one');
    log.append(at(2, 'two'));
    await tail.until('two');
    log.rotate();
    log.end();
    log.append(at(2, 'three', '000000001'), at(3, 'four'));
    await tail.until('four');
    log.append(at(4, 'last words'));
    container.previous = log;
    container.current = new KubeletLog([at(6, 'six')]);
    log.end();
    const terminated = { exitCode: 1, startedAt: at(0).time, finishedAt: at(5).time };
    await cluster.setStatus(namespace, 'a', {
      restartCount: 1,
      state: running(5),
      containerID: 'containerd://a-1',
      lastState: { terminated: { ...terminated, containerID: 'containerd://a-0' } },
    });
    await tail.until('six');
    const other = new KubeletLog([at(7, 'other')]);
    await cluster.createPod(namespace, 'b', other);
    await tail.until('other');

    // With the previous run, and without a shortfall for a container that waits to start.
    delete (await cluster.createPod(namespace, 'waiting')).current;
    const page = await store.query(own(), oldest, call());
    expect(page.records.map(({ log }) => log)).to.deep.equal(['three', 'four', 'last words', 'six', 'other']);
    expect(page.total).to.deep.equal({ count: 5, relation: 'eq' });
    expect((await store.statistics(own(), call())).containers).to.equal(3);

    await cluster.deletePod(namespace, 'a');
    container.current.end();
    other.append(at(8, 'still there'));
    const seen = await tail.until('still there');
    expect(seen).to.deep.equal(['one', 'two', 'three', 'four', 'last words', 'six', 'other', 'still there']);
    await until(() => other.followers === 1);
    await tail.end();
    // kube-apiserver closes the stream of the kubelet.
    await until(() => other.followers === 0);
  });

  it('of an unreachable node are reported as missing', async () => {
    const tail = new Tail(store, own());
    await cluster.createPod(namespace, 'lost', new KubeletLog(), 'silent');
    await cluster.createPod(namespace, 'there', new KubeletLog([at(1, 'here')]));
    await tail.until('here');
    await tail.end();
    const page = await store.query(own(), oldest, call());
    expect(page.records.map(({ log }) => log)).to.deep.equal(['here']);
    expect(page.total.relation).to.equal('gte');
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
    expect(page.shortfalls[0]?.message).to.include(`${namespace}/lost/app`).and.not.to.include('127.0.0.1');
  });

  it('can be read with the permissions that the health check requires', async () => {
    await store.check(call());
    const refused = newStore(await cluster.cp.kubeconfigFor({ name: 'nobody', groups: [] }));
    expect(await rejection(refused.check(call()))).to.match(/is not allowed to .* pods/);
    expect(await rejection(refused.query(own(), oldest, call()))).to.include({ code: 503 });
  });
});
