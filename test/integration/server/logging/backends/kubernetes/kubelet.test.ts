// Tests of pod logs against a real kube-apiserver and a fake kubelet.
import { once } from 'node:events';
import { expect } from 'chai';
import pino from 'pino';
import { ClusterConnection } from '../../../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../../../server/cluster/connection/kubeconfig.ts';
import { KubernetesLogStore } from '../../../../../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import type { LogRecord, PageRequest, Selection } from '../../../../../../server/logging/log-store.ts';
import { until } from '../../../../../support/until.ts';
import { at, everything } from '../../../../../unit/server/logging/backends/kubernetes/instants.ts';
import { KubeletLog } from '../../../../../unit/server/logging/backends/kubernetes/kubelet-log.ts';
import { KubeletCluster, running } from './kubelet-cluster.ts';

const LIMITS = { followedLogs: 100, bytesPerContainer: 1 << 20, memory: 1 << 20 };
const oldest: PageRequest = { order: 'asc', size: 100, from: 0 };

describe('pod logs through a real kube-apiserver', function () {
  this.timeout(180_000);
  let cluster: KubeletCluster;
  let client: ClusterConnection;
  let store: KubernetesLogStore;
  let run: Promise<void>;
  let namespaces = 0;
  let namespace = '';

  before(async function () {
    this.timeout(120_000);
    cluster = await KubeletCluster.start();
    client = new ClusterConnection({ kubeConfig: kubeConfigSource(cluster.cp.kubeconfig) });
    const limits = { ...LIMITS, maxContainers: 50, concurrentReads: 4 };
    store = new KubernetesLogStore({
      client,
      log: pino({ enabled: false }),
      limits,
      followTuning: { initialBackoffMs: 10 },
    });
    run = store.run(cluster.signal);
  });

  after(async () => {
    await cluster.stop();
    await run;
    client.close();
  });

  beforeEach(async () => {
    namespace = `logs-${++namespaces}`;
    await cluster.createNamespace(namespace);
    // Starts the watch of pods.
    await store.query(everything, oldest, call());
  });

  const call = (signal: AbortSignal = cluster.signal) => ({ signal, timeoutMs: 30_000 });
  const own = (): Selection => ({
    ...everything,
    scope: { everything: false, namespaces: [{ name: namespace, since: everything.range.start }] },
  });

  /** A live tail. `until` reads up to a line, and returns the texts of all lines so far. */
  async function following(): Promise<{ until(text: string): Promise<string[]>; end(): Promise<void> }> {
    const gone = new AbortController();
    const batches = store.follow(own(), { signal: gone.signal });
    const seen: string[] = [];
    return {
      until: async (text) => {
        while (!seen.includes(text)) {
          const next: IteratorResult<readonly LogRecord[], void> = await batches.next();
          if (next.done) throw new Error(`ended before ${text}`);
          seen.push(...next.value.map(({ log }) => log));
        }
        return seen;
      },
      end: async () => {
        const ended = batches.next();
        gone.abort();
        await ended;
      },
    };
  }

  it('include the previous run, and no shortfall for a waiting container', async () => {
    const follow = await following();
    const container = await cluster.createPod(namespace, 'a', new KubeletLog([at(5, 'five')]));
    container.previous = new KubeletLog([at(1, 'one'), at(2, 'two')]);
    await cluster.setStatus(namespace, 'a', {
      restartCount: 1,
      state: running(4),
      containerID: 'containerd://1',
      lastState: {
        terminated: {
          exitCode: 1,
          startedAt: at(0).time,
          finishedAt: at(3).time,
          containerID: 'containerd://0',
        },
      },
    });
    const waiting = await cluster.createPod(namespace, 'b', new KubeletLog());
    delete waiting.current;
    await follow.until('one');
    await follow.until('five');
    await follow.end();
    const page = await store.query(own(), oldest, call());
    expect(page.records.map(({ log }) => log)).to.deep.equal(['one', 'two', 'five']);
    expect(page.total).to.deep.equal({ count: 3, relation: 'eq' });
    expect((await store.statistics(own(), call())).containers).to.equal(2);
  });

  it('are followed through the end of a stream, a rotation, a restart, and the deletion of the pod', async () => {
    const follow = await following();
    const log = new KubeletLog([at(1, 'one')]);
    const container = await cluster.createPod(namespace, 'a', log);
    await follow.until('one');
    log.append(at(2, 'two'));
    await follow.until('two');
    log.rotate();
    log.end();
    log.append(at(2, 'three', '000000001'), at(3, 'four'));
    await follow.until('four');
    log.append(at(4, 'last words'));
    container.previous = log;
    container.current = new KubeletLog([at(6, 'six')]);
    log.end();
    await cluster.setStatus(namespace, 'a', {
      restartCount: 1,
      state: running(5),
      containerID: 'containerd://1',
      lastState: {
        terminated: {
          exitCode: 1,
          startedAt: at(0).time,
          finishedAt: at(5).time,
          containerID: 'containerd://0',
        },
      },
    });
    await follow.until('six');
    const other = new KubeletLog([at(7, 'other')]);
    await cluster.createPod(namespace, 'b', other);
    await follow.until('other');
    await cluster.deletePod(namespace, 'a');
    container.current.end();
    other.append(at(8, 'still there'));
    const seen = await follow.until('still there');
    expect(seen).to.deep.equal(['one', 'two', 'three', 'four', 'last words', 'six', 'other', 'still there']);
    await follow.end();
  });

  it('of an unreachable node are reported as missing', async () => {
    const follow = await following();
    await cluster.createPod(namespace, 'lost', new KubeletLog(), 'silent');
    await cluster.createPod(namespace, 'there', new KubeletLog([at(1, 'here')]));
    await follow.until('here');
    await follow.end();
    const page = await store.query(own(), oldest, call());
    expect(page.records.map(({ log }) => log)).to.deep.equal(['here']);
    expect(page.total.relation).to.equal('gte');
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
    expect(page.shortfalls[0]?.message).to.include(`${namespace}/lost/app`).and.not.to.include('127.0.0.1');
  });

  it('are no longer read after the caller disconnects', async () => {
    const follow = await following();
    await cluster.createPod(namespace, 'a', new KubeletLog([at(1, 'one')]));
    await follow.until('one');
    const log = cluster.containers.get(`${namespace}/a/app`)?.current;
    // The existing line is read before the stream is opened.
    await until(() => log?.followers === 1);
    const [follower] = log?.responses() ?? [];
    const closed = follower ? once(follower, 'close') : Promise.resolve([]);
    await follow.end();
    await closed;
    expect(log?.followers).to.equal(0);
  });

  it('can be read with the permissions that the health check requires', async () => {
    await store.check(call());
    const path = await cluster.cp.kubeconfigFor({ name: 'nobody', groups: [] });
    const stranger = new ClusterConnection({ kubeConfig: kubeConfigSource(path) });
    const limits = { ...LIMITS, maxContainers: 1, concurrentReads: 1 };
    const refused = new KubernetesLogStore({ client: stranger, log: pino({ enabled: false }), limits });
    const ending = new AbortController();
    const running = refused.run(ending.signal);
    try {
      expect(await refused.check(call()).catch((error: unknown) => error)).to.match(
        /is not allowed to .* pods/,
      );
      const failure = await refused.query(own(), oldest, call()).catch((error: unknown) => error);
      expect(failure).to.include({ name: 'StatusError', code: 503 });
    } finally {
      ending.abort();
      await running;
      stranger.close();
    }
  });
});
