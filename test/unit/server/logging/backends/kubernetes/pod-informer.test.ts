// Tests of the pod informer, which starts at the first log query.
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

  function newInformer(): PodInformer {
    const client = cluster.connect();
    const tuning = { initialBackoffMs: 1, maxBackoffMs: 5 };
    const informer = new PodInformer({ client, log, tuning });
    running.push(informer.run(ending.signal));
    return informer;
  }

  it('rejects when listing pods is forbidden, and recovers when it is allowed', async () => {
    const pods = newInformer();
    const works = answer;
    answer = ({ response }) => refuse(response, 403, 'Forbidden');
    expect(await pods.open(ending.signal).catch((error: unknown) => error)).to.be.an('error');
    answer = works;
    const opened = await pods.open(ending.signal).catch(() => pods.open(ending.signal));
    expect([...opened.namespaces()]).to.deep.equal(['shop']);
  });
});
