// Tests of discovery of a registered server during failures.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { array, record, recordIn } from '../../../../apis/reading/unknown-value.ts';
import { developmentManifests } from '../../../../hack/generate/manifests.ts';
import { namesFor } from '../../../../hack/generate/names.ts';
import { freePort } from '../../../../hack/system/ports.ts';
import { completeConfig } from '../../../../server/config/config.ts';
import { readEnvironment } from '../../../../server/config/environment.ts';
import { run } from '../../../../server/server.ts';
import { exchange } from '../../../support/exchange.ts';
import { until } from '../../../support/until.ts';
import { API_SERVICE_PATH, API_SERVICES, type RegisteredCluster, SERVER_USER } from './registered-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const DISCOVERY = '/apis/resources.platform.io/v1alpha3';
const PATH = '/apis/apiregistration.k8s.io/v1/apiservices';
const NAMESPACES = '/api/v1/namespaces';

describe('discovery of a registered server during failures', () => {
  let cluster: RegisteredCluster;
  let port: number;
  let stop: AbortController;
  let ended: Promise<void>;

  before(async () => {
    cluster = await sharedCluster();
    port = await freePort();
  });

  beforeEach(() => {
    stop = new AbortController();
    ended = Promise.resolve();
  });
  afterEach(async () => {
    stop.abort();
    await ended;
    await removeAPIServices();
  });

  /** Applies the manifests, calls `spoil`, and starts the server. */
  async function serve(spoil: () => Promise<unknown> = async () => {}, readinessDelay = '0s'): Promise<void> {
    await cluster.apply(developmentManifests(namesFor('platform'), port));
    await spoil();
    const file = join(cluster.controlPlane.dir, 'configuration.yaml');
    const configuration = {
      apiVersion: 'config.platform.io/v1alpha1',
      kind: 'APIServerConfiguration',
      listeners: { secure: { address: '127.0.0.1', port }, insecure: { enabled: false } },
      kubernetes: { kubeconfig: await cluster.controlPlane.kubeconfigFor(SERVER_USER) },
      shutdown: { readinessDelay },
      log: { level: 'error' },
    };
    await writeFile(file, stringify(configuration));
    const sources = {
      config: file,
      overrides: [],
      environment: readEnvironment({}, 'test'),
      workingDirectory: cluster.controlPlane.dir,
    };
    ended = run(await completeConfig(sources), stop.signal);
    // The test itself awaits this rejection; this handler only prevents an unhandled rejection.
    ended.catch(() => undefined);
  }

  /**
   * Resolves when the APIServices are Available and kube-apiserver forwards requests, which begins after the condition
   * is set.
   */
  async function available(): Promise<void> {
    const { client } = cluster.controlPlane;
    for (const name of API_SERVICES) await hasCondition(`${PATH}/${name}`, 'Available', 'True');
    await until(async () => (await client.send(DISCOVERY)).status === 200);
  }

  async function hasCondition(path: string, type: string, status: string): Promise<void> {
    await until(async () => {
      const { conditions } = recordIn(await cluster.controlPlane.client.get(path), 'status');
      return array(conditions ?? [])
        .map(record)
        .some((condition) => condition['type'] === type && condition['status'] === status);
    });
  }

  async function removeAPIServices(): Promise<void> {
    for (const name of API_SERVICES) await remove(`${PATH}/${name}`, [200, 404]);
  }

  async function remove(path: string, accepted: readonly number[] = [200]): Promise<void> {
    await cluster.controlPlane.client.expect(path, { method: 'DELETE' }, accepted);
  }

  /** Deletes the binding; resolves when kube-apiserver denies `resourceAttributes` to the server. */
  async function withdraw(binding: string, resourceAttributes: object): Promise<void> {
    await remove(`/apis/rbac.authorization.k8s.io/v1/${binding}`);
    await until(async () => !(await cluster.allows(SERVER_USER, resourceAttributes)));
  }

  async function createNamespace(name: string): Promise<string> {
    const { client } = cluster.controlPlane;
    await client.expect(NAMESPACES, { method: 'POST', body: { metadata: { name } } }, [201]);
    return `${NAMESPACES}/${name}`;
  }

  /** Resolves when the namespace controller has found no objects left in any API, including the APIs of this server. */
  async function isGone(namespace: string): Promise<void> {
    await until(async () => (await cluster.controlPlane.client.send(namespace)).status === 404);
  }

  async function deletesNamespace(name: string): Promise<void> {
    const namespace = await createNamespace(name);
    await remove(namespace);
    await isGone(namespace);
  }

  /** Status of a direct request with the identity headers of the aggregator; undefined without a response. */
  function status(path: string): Promise<number | undefined> {
    const headers = { 'x-remote-user': 'system:kube-aggregator', 'x-remote-group': 'system:masters' };
    return exchange(port, { path, headers, rejectUnauthorized: false }).then(
      (answer) => answer.status,
      () => undefined,
    );
  }

  it('is available with nodes when nothing fails', async () => {
    await serve();
    await available();
    await cluster.kubectl(['get', 'nodes.resources.platform.io']);
    await deletesNamespace('nothing-broken');
  });

  it('is available without the permission to list nodes', async () => {
    await serve(() =>
      withdraw('clusterrolebindings/platform:ks-apiserver', { verb: 'list', resource: 'nodes' }),
    );
    // Without the permission for its APIServices, the server cannot set their CA bundles either, so the test sets
    // insecureSkipTLSVerify.
    await trustAnyCertificate();
    await available();
    expect(await status('/readyz/informer-sync')).to.equal(500);
    await deletesNamespace('no-right-to-nodes');
  });

  it('is available without the permission to read the front-proxy settings', async () => {
    const settings = {
      namespace: 'kube-system',
      resource: 'configmaps',
      name: 'extension-apiserver-authentication',
    };
    await serve(async () => {
      // The ClusterRole `view` contains the permission too.
      await remove('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/platform:ks-apiserver:view');
      const binding = 'platform:ks-apiserver:authentication-reader';
      await withdraw(`namespaces/kube-system/rolebindings/${binding}`, { verb: 'list', ...settings });
    });
    await available();
    expect(await status('/readyz/front-proxy')).to.equal(500);
    expect(await status(DISCOVERY)).to.equal(200);
    await deletesNamespace('no-front-proxy');
  });

  it('is available without the permission for reviews', async () => {
    await serve(() =>
      withdraw('clusterrolebindings/platform:ks-apiserver:auth-delegator', {
        verb: 'create',
        group: 'authorization.k8s.io',
        resource: 'subjectaccessreviews',
      }),
    );
    await available();
    await deletesNamespace('no-reviews');
  });

  it('is available during an outage of kube-apiserver', async () => {
    await serve();
    await available();
    await cluster.controlPlane.apiserver.kill();
    expect(await status(DISCOVERY)).to.equal(200);
    await cluster.controlPlane.apiserver.restart();
    await available();
  });

  it('is available from the first connection to the last', async () => {
    await serve(undefined, '1s');
    const seen: (number | undefined)[] = [];
    const polling = new AbortController();
    const watching = (async () => {
      while (!polling.signal.aborted) {
        seen.push(await status(DISCOVERY));
        await nextTurn();
      }
    })();
    await available();
    await until(() => seen.filter((each) => each === 200).length > 10);
    stop.abort();
    await ended;
    polling.abort();
    await watching;
    const first = seen.findIndex((each) => each !== undefined);
    const last = seen.findLastIndex((each) => each !== undefined);
    expect(last - first).to.be.greaterThan(10);
    expect(new Set(seen.slice(first, last + 1))).to.deep.equal(new Set([200]));
  });

  it('fails when the server is removed before its APIServices, and recovers without them', async () => {
    await serve();
    await available();
    stop.abort();
    await ended;
    await hasCondition(API_SERVICE_PATH, 'Available', 'False');
    const blocked = await createNamespace('blocked');
    await remove(blocked);
    await hasCondition(blocked, 'NamespaceDeletionDiscoveryFailure', 'True');
    await removeAPIServices();
    await isGone(blocked);
  });

  async function trustAnyCertificate(): Promise<void> {
    const body = { spec: { insecureSkipTLSVerify: true, caBundle: null } };
    const patch = { method: 'PATCH', body, contentType: 'application/merge-patch+json' } as const;
    for (const name of API_SERVICES)
      await cluster.controlPlane.client.expect(`${PATH}/${name}`, patch, [200]);
  }
});
