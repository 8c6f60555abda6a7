// Tests of the pod informer, which starts at the first log query.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import pino from 'pino';
import { PodInformer } from '../../../../../../server/logging/backends/kubernetes/pod-informer.ts';
import {
  bookmark,
  type Call,
  event,
  refuse,
  ScriptedCluster,
  send,
} from '../../../../../support/cluster/scripted-cluster.ts';

const pod = event(
  'ADDED',
  JSON.stringify({ metadata: { namespace: 'shop', name: 'a', uid: 'u', resourceVersion: '5' } }),
);

describe('the pod informer', () => {
  let cluster: ScriptedCluster;
  const ending = new AbortController();
  const running: Promise<void>[] = [];
  let answer: (call: Call) => void;
  let requested: PromiseWithResolvers<Call>;
  const log = pino({ enabled: false });

  beforeEach(async () => {
    requested = Promise.withResolvers();
    answer = ({ response }) => send(response, pod, bookmark(7, true));
    cluster = await ScriptedCluster.start((call) => {
      requested.resolve(call);
      answer(call);
    });
  });

  afterEach(() => cluster.stop());

  after(async () => {
    ending.abort();
    await Promise.all(running);
  });

  function newInformer(idleMs?: number): PodInformer {
    const client = cluster.connect();
    const tuning = { initialBackoffMs: 1, maxBackoffMs: 5 };
    const informer = new PodInformer({ client, log, tuning, ...(idleMs === undefined ? {} : { idleMs }) });
    running.push(informer.run(ending.signal));
    return informer;
  }

  it('lists pods with the first request, and once for several requests', async () => {
    const pods = newInformer();
    expect(cluster.calls).to.have.length(0);
    const opened = await Promise.all([pods.open(ending.signal), pods.open(ending.signal)]);
    expect(opened.map(({ pods }) => pods.get('shop', 'a')?.uid)).to.deep.equal(['u', 'u']);
    expect(cluster.kinds).to.deep.equal(['stream']);
    for (const one of opened) one[Symbol.dispose]();
  });

  it('stops after the idle time, and restarts with the next request', async () => {
    const pods = newInformer(1);
    const first = await pods.open(ending.signal);
    const { response } = await requested.promise;
    const closed = new Promise((resolve) => response.on('close', resolve));
    first[Symbol.dispose]();
    await closed;
    const again = await pods.open(ending.signal);
    expect(again.pods.get('shop', 'a')?.name).to.equal('a');
    expect(cluster.kinds).to.deep.equal(['stream', 'stream']);
    again[Symbol.dispose]();
  });

  it('keeps running when a request comes within the idle time', async () => {
    const pods = newInformer(50);
    const first = await pods.open(ending.signal);
    first[Symbol.dispose]();
    const again = await pods.open(ending.signal);
    await delay(100);
    expect(again.pods).to.equal(first.pods);
    const another = await pods.open(ending.signal);
    expect(another.pods).to.equal(first.pods);
    expect(cluster.kinds).to.deep.equal(['stream']);
    for (const one of [again, another]) one[Symbol.dispose]();
  });

  it('keeps running while one of several requests is open', async () => {
    const pods = newInformer(1);
    const [stays, leaves] = await Promise.all([pods.open(ending.signal), pods.open(ending.signal)]);
    leaves[Symbol.dispose]();
    await delay(50);
    const another = await pods.open(ending.signal);
    expect(another.pods).to.equal(stays.pods);
    expect(cluster.kinds).to.deep.equal(['stream']);
    for (const one of [stays, another]) one[Symbol.dispose]();
  });

  it('rejects when listing pods is forbidden, and recovers when it is allowed', async () => {
    const pods = newInformer();
    const works = answer;
    answer = ({ response }) => refuse(response, 403, 'Forbidden');
    expect(await pods.open(ending.signal).catch((error: unknown) => error)).to.be.an('error');
    answer = works;
    const opened = await pods.open(ending.signal).catch(() => pods.open(ending.signal));
    expect([...opened.pods.namespaces()]).to.deep.equal(['shop']);
    opened[Symbol.dispose]();
  });

  it('rejects when the caller disconnects, and stops the reflector', async () => {
    answer = () => undefined;
    const gone = new AbortController();
    const pods = newInformer(1);
    const waiting = pods.open(gone.signal);
    const { response } = await requested.promise;
    const closed = new Promise((resolve) => response.on('close', resolve));
    gone.abort(new Error('gone'));
    expect(await waiting.catch((error: unknown) => error)).to.include({ message: 'gone' });
    await closed;
  });
});
