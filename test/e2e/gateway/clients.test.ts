// Tests of the client libraries of JavaScript and Go, and of controllers with leader election, through the gateway.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CoreV1Api, Exec, KubeConfig, makeInformer, type V1Status, Watch } from '@kubernetes/client-node';
import { expect } from 'chai';
import { buildClients } from '../../../hack/clients/build.ts';
import { findPrograms } from '../../../hack/control-plane/programs.ts';
import { freePort } from '../../../hack/system/ports.ts';
import { until } from '../../support/until.ts';
import { INFORMERS, InformerProgram } from '../clients/informer-program.ts';
import type { GatewayPlatform } from './gateway-platform.ts';
import { sharedGateway } from './shared-gateway.ts';

const NAMESPACE = 'clients';
const LEASE = 'gateway-clients';

describe('clients', () => {
  let gateway: GatewayPlatform;
  let token: string;
  let kubeconfig: string;

  before(async () => {
    gateway = await sharedGateway();
    const { platform } = gateway;
    token = await gateway.signIn('ada');
    kubeconfig = await platform.writeKubeconfig('clients.json', { token }, platform.server.url);
    await platform.succeeding('create namespace', NAMESPACE);
    await platform.succeeding('wait --for=create serviceaccount/default -n', NAMESPACE);
  });
  after(() => gateway.settled());

  describe('of JavaScript', () => {
    let config: KubeConfig;

    before(() => {
      config = new KubeConfig();
      config.loadFromFile(kubeconfig);
    });

    it('exec with input, output and status', async () => {
      const { namespace, name, container } = gateway.pod;
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const input = new PassThrough();
      input.end('the input\n');
      const command = ['sh', '-c', 'head -n 1; echo error >&2'];
      const status = await new Promise<V1Status>((resolve, reject) => {
        new Exec(config)
          .exec(namespace, name, container, command, stdout, stderr, input, false, resolve)
          .catch(reject);
      });
      expect(status).to.include({ status: 'Success' });
      expect([await text(stdout.end()), await text(stderr.end())]).to.deep.equal(['the input\n', 'error\n']);
    });

    it('watch and informer', async () => {
      const api = config.makeApiClient(CoreV1Api);
      const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
      const list = () =>
        api.listNamespacedConfigMap({ namespace: NAMESPACE, labelSelector: 'of=javascript' });
      const informer = makeInformer(config, path, list, 'of=javascript');
      await informer.start();
      const phases: string[] = [];
      const query = { labelSelector: 'of=javascript' };
      const watch = await new Watch(config).watch(
        path,
        query,
        (phase) => phases.push(phase),
        () => undefined,
      );
      const body = { metadata: { name: 'watched', labels: { of: 'javascript' } }, data: { a: 'b' } };
      await api.createNamespacedConfigMap({ namespace: NAMESPACE, body });
      await until(() => informer.get('watched', NAMESPACE)?.data?.['a'] === 'b');
      await api.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: 'watched' });
      await until(() => informer.get('watched', NAMESPACE) === undefined && phases.length === 2);
      expect(phases).to.deep.equal(['ADDED', 'DELETED']);
      watch.abort();
      await informer.stop();
    });
  });

  it('of Go: informers with WatchList, with JSON and with protobuf', async () => {
    const { platform } = gateway;
    const create = (name: string): Promise<string> =>
      platform.succeeding('create secret generic', name, '-n', NAMESPACE);
    await create('before');
    const informers = await InformerProgram.start({
      kubeconfig,
      resource: 'secrets.v1.',
      selector: 'of=go',
      signal: platform.signal,
    });
    try {
      const secrets = async (selector: string): Promise<Record<string, string>> => {
        const query = ['get', 'secrets', '-A', '-l', selector, '-o', 'json'];
        const { items } = JSON.parse(await platform.succeeding(...query)) as SecretList;
        return Object.fromEntries(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
      };
      await create('created');
      await platform.succeeding('label secret created of=go -n', NAMESPACE);
      await platform.succeeding('delete secret before -n', NAMESPACE);
      for (const informer of INFORMERS) {
        const expected = await secrets(informer === 'selector' ? 'of=go' : '');
        await informers.reaches(informer, expected);
        expect(await informers.store(informer), informer)
          .to.deep.equal(expected)
          .and.to.include.keys('created');
      }
      expect(informers.log).to.not.match(/falling back|watch-?list/i);
    } finally {
      await informers.stop();
    }
  });

  it('of Go: controller-runtime with leader election, caches and owned objects', async () => {
    const { platform } = gateway;
    const { signal } = platform;
    const { controller } = await buildClients({ env: process.env, signal, progress: () => undefined });
    const args = ['--kubeconfig', kubeconfig, '--lease', 'controller-runtime'];
    const child = spawn(controller, args, { stdio: 'ignore', signal }).on('error', () => undefined);
    const exit = once(child, 'exit');
    const scratch = ['copied', '-n', NAMESPACE];
    const holder = ['get', 'lease', 'controller-runtime', '-o', 'jsonpath={.spec.holderIdentity}'];
    try {
      await platform.succeeding('create configmap', ...scratch, '--from-literal=a=b');
      await platform.succeeding('label configmap', ...scratch, 'copy=yes');
      await platform.succeeding('wait --for=create secret', ...scratch, '--timeout=60s');
      expect(await platform.succeeding(...holder)).to.not.equal('');
      await platform.succeeding('delete secret', ...scratch);
      await platform.succeeding('wait --for=create secret', ...scratch, '--timeout=60s');
      expect(await platform.succeeding('get secret', ...scratch, '-o', 'jsonpath={.data.a}')).to.equal(
        'Yg==',
      );
    } finally {
      child.kill();
    }
    expect(await exit).to.deep.equal([0, null]);
    // The controller has released its Lease.
    expect(await platform.succeeding(...holder)).to.equal('');
  });

  it('of Go: kube-controller-manager with leader election, typed clients and protobuf', async () => {
    const { platform } = gateway;
    const manager = await startControllerManager(gateway, kubeconfig);
    try {
      const job = ['create', 'job', 'run', '--image=example.org/job', '-n', NAMESPACE];
      await platform.succeeding(...job);
      // kube-controller-manager creates the pod after it has become the leader.
      await platform.succeeding(
        ...['wait', '--for=create', 'pod', '-l', 'job-name=run', '-n', NAMESPACE, '--timeout=60s'],
      );
      const lease = ['get', 'lease', LEASE, '-n', 'kube-system', '-o', 'jsonpath={.spec.holderIdentity}'];
      expect(await platform.succeeding(...lease)).to.not.equal('');
    } finally {
      const exit = once(manager, 'exit');
      manager.kill();
      await exit;
    }
  });
});

interface SecretList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
  }[];
}

/** Starts kube-controller-manager with the controller of Jobs, which the control plane lacks. */
async function startControllerManager(
  { platform }: GatewayPlatform,
  kubeconfig: string,
): Promise<ChildProcess> {
  const { kubeControllerManager } = await findPrograms(['kubeControllerManager'], {
    signal: platform.signal,
  });
  const { pki } = platform.controlPlane;
  const { cert, key } = pki.files.apiserver;
  return spawn(
    kubeControllerManager,
    [
      '--controllers=job-controller',
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=true',
      `--leader-elect-resource-name=${LEASE}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${await freePort()}`,
      `--tls-cert-file=${cert}`,
      `--tls-private-key-file=${key}`,
    ],
    { stdio: 'ignore', env: platform.environment(), signal: platform.signal },
  ).on('error', () => undefined);
}
