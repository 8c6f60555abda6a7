// Tests of the activity of a simulated cluster, with kube-apiserver and KWOK.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { array, record, recordIn, text } from '../../../../../apis/reading/unknown-value.ts';
import { type ControlPlane, startControlPlane } from '../../../../../hack/control-plane/control-plane.ts';
import { Activity } from '../../../../../hack/simulation/activity/activity.ts';
import { PodLogFiles } from '../../../../../hack/simulation/activity/pod-log-files.ts';
import { listPods, type SimulatedPod } from '../../../../../hack/simulation/activity/simulated-pods.ts';
import { podLogs, startKwok } from '../../../../../hack/simulation/kwok.ts';
import { nodeName } from '../../../../../hack/simulation/realistic-node.ts';
import { scratchFolder } from '../../../../support/scratch.ts';
import { until } from '../../../../support/until.ts';

const { signal } = new AbortController();

describe('the activity of a simulated cluster', function () {
  this.timeout(180_000);
  let scratch: Awaited<ReturnType<typeof scratchFolder>>;
  let cp: ControlPlane;
  let activity: Activity;
  let job: Promise<void>;

  before(async () => {
    scratch = await scratchFolder();
    cp = await startControlPlane({ dir: join(scratch.path, 'control-plane'), signal });
    await startKwok(cp, { nodes: 3, pods: 12, hasPodLogs: true, signal });
    const logs = join(podLogs(cp.folder), 'pods');
    activity = new Activity({ client: cp.client, logs, nodes: [nodeName(1), nodeName(2)] });
    await activity.prepare(signal);
    // KWOK serves the logs that replicas share until it has listed the Logs objects.
    await until(async () => {
      const [one = expect.fail(), other = expect.fail()] = await podsOf('invoice');
      return (await logOf(one)).at(-1) !== (await logOf(other)).at(-1);
    });
    job = activity.runJob(signal);
    job.catch(() => undefined);
  });
  after(async () => {
    await cp?.stop();
    await scratch?.[Symbol.asyncDispose]();
  });

  async function podsOf(name: string): Promise<SimulatedPod[]> {
    return (await listPods(cp.client, signal)).filter(({ application }) => application.name === name);
  }

  async function logOf({ namespace, name }: SimulatedPod, query = ''): Promise<string[]> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/log?${query}`;
    return (await cp.client.expect(path, { signal }, [200])).body.trimEnd().split('\n');
  }

  it('rolls out a version', async () => {
    await activity.rollOut('cart', signal);
    const images = async (): Promise<string[]> =>
      (await podsOf('cart')).map(({ isRunning, container }) => (isRunning ? text(container['image']) : ''));
    const wanted = 'registry.example.com/platform/cart:v2.1.0';
    await until(async () => {
      const found = await images();
      return found.length === 2 && found.every((image) => image === wanted);
    });
  });

  it('lets a pod crash, whose previous log ends with the error, and recover', async () => {
    const crashed = (await activity.crash('catalog', signal)) ?? expect.fail();
    const current = async (): Promise<SimulatedPod> =>
      (await podsOf('catalog')).find(({ uid }) => uid === crashed.uid) ?? expect.fail();
    await until(async () => recordIn((await current()).container, 'state')['waiting'] !== undefined);
    const waiting = recordIn(recordIn((await current()).container, 'state'), 'waiting');
    expect(waiting['reason']).to.equal('CrashLoopBackOff');
    expect((await logOf(crashed, 'previous=true')).at(-1)).to.match(/level=error/);
    await activity.recover(crashed, signal);
    await until(async () => recordIn((await current()).container, 'state')['running'] !== undefined);
    expect((await current()).container['restartCount']).to.equal(1);
    expect(await logOf(crashed)).to.have.length(1);
  });

  it('writes errors to the logs of the pods of one application', async () => {
    const count = async (name: string): Promise<number> => {
      const logs = await Promise.all((await podsOf(name)).map((pod) => logOf(pod)));
      return logs.flat().filter((line) => /ERROR|FATAL|level=error/.test(line)).length;
    };
    const [checkout, grafana] = [await count('checkout'), await count('grafana')];
    await activity.logErrors('checkout', 50, signal);
    expect(await count('checkout')).to.equal(checkout + 50);
    expect(await count('grafana')).to.equal(grafana);
  });

  it('gives each replica a log of its own, of a limited size', async () => {
    const [one = expect.fail(), other = expect.fail()] = await podsOf('invoice');
    expect(await logOf(one)).to.not.include((await logOf(other)).at(-1));
    const dir = join(scratch.path, 'limited');
    const files = new PodLogFiles(cp.client, dir, 1_000);
    await files.deleteAll();
    await files.open(one, '', signal);
    for (let line = 0; line < 100; line++) await files.append(one, `${'x'.repeat(99)}\n`);
    const sizes = (await readdir(dir)).map(async (file) => (await stat(join(dir, file))).size);
    expect((await Promise.all(sizes)).reduce((sum, size) => sum + size)).to.be.below(2_400);
    await files.closeAllExcept([]);
    expect(await readdir(dir)).to.deep.equal([]);
  });

  it('completes Jobs', async () => {
    await job;
    const jobs = array(record(await cp.client.get('/apis/batch/v1/jobs', signal))['items']);
    const conditions = jobs.flatMap((each) => array(recordIn(each, 'status')['conditions']));
    expect(conditions.map((condition) => record(condition)['type'])).to.include('Complete');
  });

  it('runs until the signal aborts, and records events', async () => {
    const running = new AbortController();
    const run = activity.run(running.signal);
    const path = '/api/v1/events?fieldSelector=reason%3DBackOff,involvedObject.kind%3DPod';
    const events = async (): Promise<number> =>
      array(record(await cp.client.get(path, signal))['items']).length;
    const before = await events();
    await until(async () => (await events()) > before);
    running.abort();
    await run;
  });
});
