import { expect } from 'chai';
import { Slots } from '../../../../../../../server/concurrency/slots.ts';
import { Turns } from '../../../../../../../server/concurrency/turns.ts';
import { PodIndex } from '../../../../../../../server/logging/backends/kubernetes/pods/pod-index.ts';
import { chooseSources } from '../../../../../../../server/logging/backends/kubernetes/pods/source-selection.ts';
import { LogReader } from '../../../../../../../server/logging/backends/kubernetes/reading/log-reader.ts';
import { Pass } from '../../../../../../../server/logging/backends/kubernetes/reading/pass.ts';
import { Shortfalls } from '../../../../../../../server/logging/backends/kubernetes/reading/shortfalls.ts';
import { at, call, everything } from '../instants.ts';
import { KubeletLog } from '../kubelet-log.ts';
import { LogCluster } from '../log-cluster.ts';

/** The pod `shop/a`, whose container is in its n-th run. */
function pod(run: number): Buffer {
  const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  const status = { name: 'app', restartCount: run, state: running, containerID: `x://${run}` };
  const metadata = { namespace: 'shop', name: 'a', uid: 'a' };
  return Buffer.from(JSON.stringify({ metadata, status: { containerStatuses: [status] } }));
}

describe('a container that starts anew', () => {
  let cluster: LogCluster;

  beforeEach(async () => {
    cluster = await new LogCluster().start();
  });

  afterEach(() => cluster.stop());

  for (const order of ['asc', 'desc'] as const) {
    it(`between two pages has no line of the same instant skipped or repeated, ${order}`, async () => {
      const lines = Array.from({ length: 6 }, (_, n) => at(5, `line ${n}`, '000000007'));
      const log = cluster.add('shop', 'a', lines);
      const store = cluster.store();
      const first = await store.query(everything, { order, size: 3, from: 0 }, call);
      cluster.add('shop', 'a', [at(9, 'anew')], { restarts: 1, previous: log });
      // Once the store has heard of it, there is one line more.
      const request = { order, size: 10, from: 0 } as const;
      for (let count = 6; count < 7; ) count = (await store.query(everything, request, call)).total.count;
      const rest = await store.query(everything, { ...request, after: first.next ?? '' }, call);
      const seen = [...first.records, ...rest.records].map((record) => record.log);
      const wanted = lines.map(({ text }) => text);
      expect(seen).to.deep.equal(order === 'asc' ? [...wanted, 'anew'] : wanted.toReversed());
    });
  }

  it('while its logs are read makes the answer a partial one', async () => {
    cluster.add('shop', 'a', [at(1)]);
    const index = new PodIndex();
    const replacement = index.replacement();
    replacement.add(pod(0));
    replacement.commit('1');
    const { sources, leftOut } = await chooseSources(index, everything, 10);
    const client = cluster.connect();
    const shortfalls = new Shortfalls(leftOut);
    const pass = new Pass({
      reader: new LogReader({ client, slots: new Slots(1), turns: new Turns() }),
      sources,
      pods: index,
      beginOf: () => everything.range.start,
      end: everything.range.end,
      filter: () => true,
      bytesPerContainer: 1 << 20,
      parallel: 1,
      deadline: call.signal,
      signal: call.signal,
      shortfalls,
      onFailure: () => undefined,
    });
    let lines = 0;
    const tally = (becomes: number) => () => ({
      onLine: () => {
        lines++;
        index.apply('MODIFIED', pod(becomes));
      },
      done: () => undefined,
    });
    await pass.readAll(tally(0));
    expect(lines).to.equal(1);
    expect(shortfalls.list()).to.deep.equal([]);
    await pass.readAll(tally(1));
    expect(shortfalls.list().map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
    expect(shortfalls.list()[0]?.message).to.include('shop/a/app').and.to.include('anew');
  });

  it('and whose next run has not come about is read as before', async () => {
    const ended = new KubeletLog([at(1)]);
    cluster.add('shop', 'a', [], { state: 'waiting', restarts: 1, previous: ended });
    const page = await cluster.store().query(everything, { order: 'asc', size: 3, from: 0 }, call);
    expect(page.total).to.deep.equal({ count: 1, relation: 'eq' });
    expect(page.shortfalls).to.deep.equal([]);
  });
});
