import { expect } from 'chai';
import { SilentNodes } from '../../../../../../../server/logging/backends/kubernetes/reading/silent-nodes.ts';
import type { PageRequest } from '../../../../../../../server/logging/log-store.ts';
import { at, call, everything } from '../instants.ts';
import { KubeletLog } from '../kubelet-log.ts';
import { LogCluster } from '../log-cluster.ts';

const newest: PageRequest = { order: 'desc', size: 100, from: 0 };

describe('a node whose kubelet is silent', () => {
  let cluster: LogCluster;

  beforeEach(async () => {
    cluster = await new LogCluster().start();
  });

  afterEach(() => cluster.stop());

  it('costs its own logs, not the time of all others', async () => {
    for (let n = 0; n < 40; n++) {
      const log = new KubeletLog([at(n)]);
      const [name, node] = [`p${String(n).padStart(2, '0')}`, n < 20 ? 'silent' : 'well'];
      cluster.put({
        namespace: 'shop',
        name,
        node,
        containers: [{ name: 'app', log, startedAt: at(n).time }],
      });
    }
    cluster.disturb = (url) => Number(/p(\d+)\/log/.exec(url.pathname)?.[1]) < 20;
    const store = cluster.store({ concurrentReads: 4 }, { kubeletTimeoutMs: 3_000 });
    const page = await store.query(everything, newest, call);
    expect(page.records).to.have.length(20);
    expect(page.total).to.deep.equal({ count: 20, relation: 'gte' });
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
    expect(page.shortfalls[0]?.message).to.include('20 logs').and.to.include('shop/p00/app');
    // As many as were read at a time; one after the other it would have been all of them.
    expect(cluster.asked.filter(({ pathname }) => /p[01]\d/.test(pathname))).to.have.length.below(8);
  });

  it('is asked again after a while, and for long only when it was silent twice', () => {
    let now = 0;
    const nodes = new SilentNodes(() => now);
    nodes.wasSilent('a');
    expect(nodes.has('a')).to.equal(true);
    expect(nodes.has('b')).to.equal(false);
    now += 2_000;
    expect(nodes.has('a')).to.equal(false);
    nodes.wasSilent('a');
    now += 2_000;
    expect(nodes.has('a')).to.equal(true);
    nodes.answered('a');
    expect(nodes.has('a')).to.equal(false);
  });
});

describe('nodes that were silent', () => {
  it('are forgotten when ten thousand others have been since, as after years of nodes that come and go', () => {
    const silent = new SilentNodes(() => 0);
    for (let n = 0; n <= 10_000; n++) silent.wasSilent(`n${n}`);
    expect([silent.has('n0'), silent.has('n1')]).to.deep.equal([false, true]);
  });

  it('rest for a second, then for fifteen, until they answer; a pod without a node has none', () => {
    let now = 0;
    const silent = new SilentNodes(() => now);
    silent.wasSilent('');
    expect(silent.has('')).to.equal(false);
    for (const rest of [1_000, 15_000, 15_000]) {
      silent.wasSilent('n');
      now += rest - 1;
      expect(silent.has('n')).to.equal(true);
      now += 1;
      expect(silent.has('n')).to.equal(false);
    }
    silent.wasSilent('n');
    silent.answered('n');
    expect(silent.has('n')).to.equal(false);
    silent.wasSilent('n');
    now += 1_000;
    expect(silent.has('n')).to.equal(false);
  });
});
