// Tests of the clients of Python, and of an operator with kopf, through the gateway.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PYTHON_CLIENTS } from '../../../hack/clients/build.ts';
import { pythonWith } from '../../support/python.ts';
import { type GatewayPlatform, SIDES } from './gateway-platform.ts';
import { sharedGateway } from './shared-gateway.ts';

const NAMESPACE = 'python';
const PROGRAMS = join(import.meta.dirname, '../../../hack/clients/python');

describe('clients of Python', () => {
  let gateway: GatewayPlatform;
  let python: string;
  let token: string;

  before(async function () {
    gateway = await sharedGateway();
    python = (await pythonWith(PYTHON_CLIENTS, gateway.platform.signal)) ?? this.skip();
    token = await gateway.signIn('ada');
    await gateway.platform.succeeding('create namespace', NAMESPACE);
  });
  after(() => gateway.settled());

  /** Runs a program directly and through the gateway. */
  async function outputs(program: string): Promise<unknown[]> {
    const { platform, pod } = gateway;
    return Promise.all(
      SIDES.map(async (side): Promise<unknown> => {
        const name = `${program}-${side}`;
        const { url } = side === 'direct' ? platform.controlPlane : platform.server;
        const file = await platform.writeKubeconfig(`${name}.json`, { token }, url);
        const script = join(PROGRAMS, `${program}.py`);
        const args = [script, file, pod.namespace, pod.name, pod.container, name];
        const { stdout } = await promisify(execFile)(python, args, { signal: platform.signal });
        return JSON.parse(stdout.replaceAll(name, 'scratch'));
      }),
    );
  }

  it('kubernetes: lists, watches with bookmarks, exec, logs, port-forward and server-side apply', async () => {
    const [direct, through] = await outputs('client');
    expect(through).to.deep.equal(direct);
    expect(through).to.deep.include({
      events: ['ADDED', 'BOOKMARK', 'MODIFIED', 'DELETED'],
      execs: ['the input\n', 'error\n', 0],
      forwards: 'through a port',
    });
  });

  it('kubernetes_asyncio and lightkube: lists, watches, exec, logs and server-side apply', async () => {
    const [direct, through] = await outputs('asynchronous');
    expect(through).to.deep.equal(direct);
    expect(through).to.have.nested.property('kubernetes_asyncio[2]', 'the output\n');
    expect(through).to.have.nested.property('lightkube[4]', 'NotFound');
  });

  it('kopf: an operator with finalizers, changes and events', async () => {
    const { platform } = gateway;
    const { signal } = platform;
    const kubeconfig = await platform.writeKubeconfig('kopf.json', { token }, platform.server.url);
    const program = join(PROGRAMS, 'operator_with_kopf.py');
    const args = ['-m', 'kopf', 'run', '--standalone', `--namespace=${NAMESPACE}`, program];
    const env = { ...platform.environment(), KUBECONFIG: kubeconfig, PYTHONDONTWRITEBYTECODE: '1' };
    const operator = spawn(python, args, { stdio: 'ignore', env, signal }).on('error', () => undefined);
    const exit = once(operator, 'exit');
    const at = ['-n', NAMESPACE, '--timeout=60s'];
    try {
      await platform.succeeding('create configmap original --from-literal=a=b -n', NAMESPACE);
      await platform.succeeding('label configmap original copy-with=kopf -n', NAMESPACE);
      await platform.succeeding('wait --for=create configmap/original-copy', ...at);
      await platform.succeeding('patch configmap original -p {"data":{"a":"c"}} -n', NAMESPACE);
      await platform.succeeding('wait --for=jsonpath={.data.a}=c configmap/original-copy', ...at);
      // Its finalizer holds the original back until the copy is deleted.
      await platform.succeeding('delete configmap original', ...at);
      const left = await platform.succeeding('get configmaps -o name -n', NAMESPACE);
      expect(left).not.to.contain('original');
    } finally {
      operator.kill();
    }
    expect(await exit).to.deep.equal([0, null]);
  });
});
