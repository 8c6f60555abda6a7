// Tests of failed attempts that replicas count together, against a real control plane.
import { expect } from 'chai';
import { pino } from 'pino';
import { newTooManyRequests, StatusError } from '../../../../apis/meta/v1/errors.ts';
import { recordIn, texts } from '../../../../apis/reading/unknown-value.ts';
import { SERVICE_ACCOUNT } from '../../../../hack/extension/registration.ts';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import { THROTTLE } from '../../../../server/oauth/throttle/delays.ts';
import { type FailureChange, SharedFailures } from '../../../../server/oauth/throttle/shared-failures.ts';
import { running } from '../../../support/running.ts';
import { until } from '../../../support/until.ts';
import { NAMESPACE, type OAuthCluster } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const CONFIG_MAP = `/api/v1/namespaces/${NAMESPACE}/configmaps/ks-apiserver-login-throttle`;
const ACCOUNT = 'account-alice';
const silent = pino({ level: 'silent' });

describe('failures that replicas share', () => {
  let cluster: OAuthCluster;
  let client: ClusterConnection;
  /** Thrown instead of each write. */
  let outage: Error | undefined;
  let now: number;
  let stack: AsyncDisposableStack;
  let a: SharedFailures;
  let b: SharedFailures;

  before(async () => {
    cluster = await sharedCluster();
    const kubeConfig = kubeConfigSource(await cluster.controlPlane.kubeconfigFor(SERVICE_ACCOUNT));
    client = new ClusterConnection({ kubeConfig });
  });
  after(() => client.close());
  beforeEach(() => {
    outage = undefined;
    now = Date.now();
    stack = new AsyncDisposableStack();
    a = started();
    b = started();
  });
  afterEach(async () => {
    await stack.disposeAsync();
    await cluster.reset();
  });

  /** `ahead`: how much its clock is ahead, in ms. */
  function started(ahead = 0): SharedFailures {
    const connected: ClusterClient = {
      open: (request) => client.open(request),
      json: async (request) => {
        if (outage) throw outage;
        return client.json(request);
      },
    };
    const limits = { ...THROTTLE, failures: 5 };
    const replica = new SharedFailures({
      limits,
      client: connected,
      namespace: NAMESPACE,
      log: silent,
      now: () => now + ahead,
    });
    stack.use(running((signal) => replica.run(signal)));
    return replica;
  }
  const failed: FailureChange = (record) => ({ ...record, failures: record.failures + 1, lastAt: now });
  const stored = async (): Promise<Readonly<Record<string, string>>> =>
    texts(recordIn(JSON.parse((await cluster.controlPlane.client.send(CONFIG_MAP)).body), 'data'));
  const patch = (data: Readonly<Record<string, string>>) =>
    cluster.controlPlane.client.expect(
      CONFIG_MAP,
      { method: 'PATCH', contentType: 'application/merge-patch+json', body: { data } },
      [200],
    );
  const rejection = (promise: Promise<void>): Promise<unknown> =>
    promise.then(
      () => undefined,
      (error: unknown) => (error instanceof StatusError ? error.code : error),
    );

  it('count once each, when replicas write at the same time', async () => {
    const changes = Array.from({ length: 20 }, (_, index) =>
      [a, b].flatMap((replica) => [
        replica.change(ACCOUNT, failed),
        replica.change(`source-${index % 3}`, failed),
      ]),
    );
    await Promise.all(changes.flat());
    for (const replica of [a, b]) await until(() => replica.get(ACCOUNT).failures === 40);
    const sources = [0, 1, 2].map((index) => a.get(`source-${index}`).failures);
    expect(sources).to.deep.equal([14, 14, 12]);
  });

  it('are written also if other replicas write all the time', async () => {
    const replicas = [a, b, started()];
    const changes = replicas.map(async (replica) => {
      for (let i = 0; i < 30; i++) await replica.change(ACCOUNT, failed);
    });
    await Promise.all(changes);
    for (const replica of replicas) await until(() => replica.get(ACCOUNT).failures === 90);
  });

  it('allow one replica to change a record that others change at the same time', async () => {
    const first: FailureChange = (record) => {
      if (record.failures > 0) throw newTooManyRequests('another was faster', 1);
      return failed(record);
    };
    const results = await Promise.all(
      [a, b, a, b].map((replica) => rejection(replica.change(ACCOUNT, first))),
    );
    expect(results).to.have.members([undefined, 429, 429, 429]);
  });

  it('tell other replicas the known sources of an attacked account, at most eight', async () => {
    for (let source = 0; source < 10; source++) {
      a.keep(ACCOUNT, (record) => ({
        ...record,
        known: { ...record.known, [`source-${source}`]: now + source },
      }));
    }
    const latest = Array.from({ length: 8 }, (_, index) => `source-${index + 2}`);
    expect(a.size, 'without failures').to.equal(0);
    await b.change(ACCOUNT, failed);
    await until(() => Object.keys(b.get(ACCOUNT).known).length > 0);
    expect(b.get(ACCOUNT).known).to.have.all.keys(latest);
    expect([a.size, b.size, b.get(ACCOUNT).failures]).to.deep.equal([1, 1, 1]);
  });

  it('end for all replicas with the ConfigMap, but known sources stay', async () => {
    a.keep(ACCOUNT, (record) => ({ ...record, known: { 'source-home': now } }));
    await a.change(ACCOUNT, failed);
    await until(() => b.get(ACCOUNT).failures === 1);
    await cluster.controlPlane.client.expect(CONFIG_MAP, { method: 'DELETE' }, [200]);
    for (const replica of [a, b]) await until(() => replica.get(ACCOUNT).failures === 0);
    expect(b.get(ACCOUNT).known).to.have.keys('source-home');
    await b.change(ACCOUNT, failed);
    await until(() => a.get(ACCOUNT).failures === 1);
  });

  it('survive a restart of all replicas', async () => {
    await a.change(ACCOUNT, failed);
    await stack.disposeAsync();
    stack = new AsyncDisposableStack();
    const later = started();
    await until(() => later.get(ACCOUNT).failures === 1);
  });

  it('are bounded: expired and invalid records are removed, and those with the fewest failures above 1,000, codes last', async () => {
    await a.change(ACCOUNT, failed);
    const entry = (failures: number, lastAt = now): string => JSON.stringify({ failures, lastAt, known: {} });
    const many = Object.fromEntries(
      Array.from({ length: 997 }, (_, index) => [`account-${index}`, entry(9)]),
    );
    const bad = { strange: 'what', empty: '{}', old: entry(9, now - THROTTLE.reset - 1), over: entry(0) };
    await patch({ ...many, ...bad, milder: entry(1, now - 1), mild: entry(2), 'factor-alice': entry(1) });
    await until(() => a.get('mild').failures === 2);
    await a.change('account-bob', failed);
    const left = await stored();
    expect(Object.keys(left)).to.have.length(1000);
    expect(left)
      .to.include.keys('account-bob', 'account-0', 'mild', 'factor-alice')
      .and.not.have.any.keys(...Object.keys(bad));
    expect(left).not.to.have.any.keys('milder', ACCOUNT);
    expect(a.get('milder').failures, 'still known at this replica').to.equal(1);
  });

  it('do not extend a delay if the clock of another replica is ahead', async () => {
    const early: FailureChange = (record) => ({ ...failed(record), lastAt: now + 240_000 });
    await started(240_000).change(ACCOUNT, early);
    await until(() => b.get(ACCOUNT).failures === 1);
    expect(b.get(ACCOUNT).lastAt).to.equal(now);
  });

  it('are not written during an outage, which a caller gets to know', async () => {
    await a.change(ACCOUNT, failed);
    outage = new StatusError(403, 'Forbidden', 'no');
    expect(await rejection(a.change(ACCOUNT, failed))).to.equal(503);
    outage = undefined;
    await a.change(ACCOUNT, failed);
    expect(a.get(ACCOUNT).failures).to.equal(2);
  });
});
