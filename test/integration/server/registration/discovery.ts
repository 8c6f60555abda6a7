// Tests of discovery of a registered server during failures.
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { developmentManifests } from '../../../../hack/generate/manifests.ts';
import { namesFor } from '../../../../hack/generate/names.ts';
import { freePort } from '../../../../hack/system/ports.ts';
import { completeConfig } from '../../../../server/config.ts';
import { readEnvironment } from '../../../../server/environment.ts';
import { run } from '../../../../server/server.ts';
import { until } from '../../../support/until.ts';
import { API_SERVICE, API_SERVICES, type RegisteredCluster, SERVER_USER } from './registered-cluster.ts';

const DISCOVERY = '/apis/resources.platform.io/v1alpha3';

export function describeDiscovery(subject: () => RegisteredCluster): void {
  describe('discovery of a registered server during failures', () => {
    let cluster: RegisteredCluster;
    let port: number;
    let stop: AbortController;
    let ended: Promise<void>;

    before(async () => {
      cluster = subject();
      port = await freePort();
    });

    beforeEach(() => {
      stop = new AbortController();
      ended = Promise.resolve();
    });
    afterEach(async () => {
      stop.abort();
      await ended;
      await cluster.kubectl(['delete', 'apiservice', ...API_SERVICES, '--ignore-not-found']);
    });

    /** Applies the manifests, calls `spoil`, and starts the server. */
    async function serve(
      spoil: () => Promise<unknown> = async () => {},
      readinessDelay = '0s',
    ): Promise<void> {
      await cluster.kubectl(['apply', '-f', '-'], developmentManifests(namesFor('platform'), port));
      await spoil();
      const file = join(cluster.controlPlane.dir, 'configuration.yaml');
      const configuration = {
        apiVersion: 'config.platform.io/v1alpha1',
        kind: 'APIServerConfiguration',
        listeners: { secure: { address: '127.0.0.1', port }, insecure: { enabled: false } },
        kubernetes: { kubeconfig: await cluster.controlPlane.kubeconfigFor(SERVER_USER) },
        shutdown: { readinessDelay, timeout: '2s' },
        log: { level: 'error', format: 'text' },
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
      const services = API_SERVICES.map((name) => `apiservice/${name}`);
      await cluster.kubectl(['wait', '--for=condition=Available', '--timeout=120s', ...services]);
      await until(() =>
        cluster.kubectl(['get', '--raw', DISCOVERY]).then(
          () => true,
          () => false,
        ),
      );
    }

    /** Deletes the binding; resolves when kube-apiserver denies `what` to the server. */
    async function withdraw(binding: readonly string[], what: readonly string[]): Promise<void> {
      await cluster.kubectl(['delete', ...binding]);
      const question = ['auth', 'can-i', ...what, '--as', SERVER_USER.name];
      // kubectl also exits with an error if the result is `no`.
      await until(async () => (await cluster.kubectl(question).catch(String)).endsWith('no\n'));
    }

    async function deletesNamespace(name: string): Promise<void> {
      await cluster.kubectl(['create', 'namespace', name]);
      // Waits until the namespace controller has found no objects left in any API, including the APIs of this server.
      await cluster.kubectl(['delete', 'namespace', name, '--timeout=120s']);
    }

    /** Status of a direct request with the identity headers of the aggregator; undefined without a response. */
    function status(path: string): Promise<number | undefined> {
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      const headers = { 'x-remote-user': 'system:kube-aggregator', 'x-remote-group': 'system:masters' };
      request(
        { host: '127.0.0.1', port, path, headers, rejectUnauthorized: false, agent: false },
        (answer) => {
          answer.resume();
          answer.once('close', () => resolve(answer.statusCode));
        },
      )
        .once('error', () => resolve(undefined))
        .end();
      return promise;
    }

    it('is available with nodes when nothing fails', async () => {
      await serve();
      await available();
      await cluster.kubectl(['get', 'nodes.resources.platform.io']);
      await cluster.kubectl(['get', '--raw', DISCOVERY]);
      await deletesNamespace('nothing-broken');
    });

    it('is available without the permission to list nodes', async () => {
      await serve(() => withdraw(['clusterrolebinding', 'platform:ks-apiserver'], ['list', 'nodes']));
      // Without the permission for its APIServices, the server cannot set their CA bundles either, so the test sets
      // insecureSkipTLSVerify.
      await trustAnyCertificate();
      await available();
      expect(await status('/readyz/informer-sync')).to.equal(500);
      await deletesNamespace('no-right-to-nodes');
    });

    it('is available without the permission to read the front-proxy settings', async () => {
      const inSystem = ['--namespace', 'kube-system'];
      await serve(async () => {
        // The ClusterRole `view` contains the permission too.
        await cluster.kubectl(['delete', 'clusterrolebinding', 'platform:ks-apiserver:view']);
        await withdraw(
          ['rolebinding', 'platform:ks-apiserver:authentication-reader', ...inSystem],
          ['list', 'configmaps/extension-apiserver-authentication', ...inSystem],
        );
      });
      await available();
      expect(await status('/readyz/front-proxy')).to.equal(500);
      expect(await status(DISCOVERY)).to.equal(200);
      await deletesNamespace('no-front-proxy');
    });

    it('is available without the permission for reviews', async () => {
      await serve(() =>
        withdraw(
          ['clusterrolebinding', 'platform:ks-apiserver:auth-delegator'],
          ['create', 'subjectaccessreviews.authorization.k8s.io'],
        ),
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
          await delay(2);
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
      await cluster.kubectl([
        'wait',
        '--for=condition=Available=false',
        '--timeout=120s',
        `apiservice/${API_SERVICE}`,
      ]);
      await cluster.kubectl(['create', 'namespace', 'blocked']);
      await cluster.kubectl(['delete', 'namespace', 'blocked', '--wait=false']);
      const failing = '--for=condition=NamespaceDeletionDiscoveryFailure';
      await cluster.kubectl(['wait', failing, '--timeout=120s', 'namespace/blocked']);
      await cluster.kubectl(['delete', 'apiservice', ...API_SERVICES]);
      await cluster.kubectl(['wait', '--for=delete', '--timeout=150s', 'namespace/blocked']);
    });

    async function trustAnyCertificate(): Promise<void> {
      const patch = '{"spec":{"insecureSkipTLSVerify":true,"caBundle":null}}';
      for (const name of API_SERVICES) {
        await cluster.kubectl(['patch', 'apiservice', name, '--type', 'merge', '--patch', patch]);
      }
    }
  });
}
