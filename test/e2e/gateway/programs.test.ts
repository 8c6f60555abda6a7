// Tests of helm and stern, two programs that people use beside kubectl, through the gateway.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { provideGoProgram } from '../../../hack/artifacts/go-programs.ts';
import { requireGoProgram } from '../../support/required-program.ts';
import type { GatewayPlatform } from './gateway-platform.ts';
import { sharedGateway } from './shared-gateway.ts';

const NAMESPACE = 'programs';
const TEMPLATE = `apiVersion: v1
kind: ConfigMap
metadata: {name: from-helm}
data: {a: "{{ .Values.a }}"}
`;

describe('programs beside kubectl', () => {
  let gateway: GatewayPlatform;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    gateway = await sharedGateway();
    const { platform } = gateway;
    const token = await gateway.signIn('ada');
    const file = await platform.writeKubeconfig('programs.json', { token }, platform.server.url);
    env = { ...platform.environment(), KUBECONFIG: file };
    await platform.succeeding('create namespace', NAMESPACE);
  });
  after(() => gateway.settled());

  const build = () => ({ env: process.env, signal: gateway.platform.signal, progress: () => undefined });

  it('helm: install, upgrade, rollback, history and uninstall', async () => {
    const { platform } = gateway;
    const helm = await provideGoProgram('helm', build());
    const chart = dirname(await platform.write('chart-of-helm', ''));
    const folder = join(chart, 'chart');
    await mkdir(join(folder, 'templates'), { recursive: true });
    await platform.write('chart/Chart.yaml', 'apiVersion: v2\nname: scratch\nversion: 1.0.0\n');
    await platform.write('chart/values.yaml', 'a: first\n');
    await platform.write('chart/templates/configmap.yaml', TEMPLATE);
    const run = async (...args: readonly string[]): Promise<string> =>
      (await promisify(execFile)(helm, [...args, '-n', NAMESPACE], { env })).stdout;
    const value = () => platform.succeeding('get configmap from-helm -o jsonpath={.data.a} -n', NAMESPACE);
    await run('install', 'scratch', folder, '--wait');
    expect(await value()).to.equal('first');
    await run('upgrade', 'scratch', folder, '--set', 'a=second', '--wait');
    expect(await value()).to.equal('second');
    await run('rollback', 'scratch', '1', '--wait');
    expect(await value()).to.equal('first');
    const history = JSON.parse(await run('history', 'scratch', '-o', 'json')) as readonly {
      status: string;
    }[];
    expect(history.map(({ status }) => status)).to.deep.equal(['superseded', 'superseded', 'deployed']);
    await run('uninstall', 'scratch', '--wait');
    expect(await platform.succeeding('get configmaps -o name -n', NAMESPACE)).not.to.contain('from-helm');
  });

  it('stern: follows the logs of all pods of a workload', async function () {
    const { platform, pod } = gateway;
    const stern = await requireGoProgram(this, 'stern');
    // stern ignores containers that have never had an ID, and the simulated ones have none.
    const id = [{ op: 'add', path: '/status/containerStatuses/0/containerID', value: 'kwok://cart' }];
    const patch = ['--subresource=status', '--type=json', '-p', JSON.stringify(id)];
    await platform.succeeding('patch pod', pod.name, '-n', pod.namespace, ...patch);
    const args = [pod.container, '-n', pod.namespace, '--tail=1', '--output=json'];
    const child = spawn(stern, args, { env, stdio: ['ignore', 'pipe', 'inherit'], signal: platform.signal });
    child.on('error', () => undefined);
    const exit = once(child, 'exit');
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(JSON.parse(line)).to.include({ namespace: pod.namespace, podName: pod.name });
    child.kill();
    await exit;
  });
});
