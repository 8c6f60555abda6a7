// Tests of the commands of the image in the pods of the server, through kubectl exec with and without a terminal.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { parse } from 'yaml';
import type { Cluster } from '../../hack/cluster/cluster.ts';
import packageManifest from '../../package.json' with { type: 'json' };
import { directRequest } from './direct-request.ts';
import { BASE, NAMESPACE, sharedCluster } from './shared-cluster.ts';

const PASSWORD = 'correct horse battery staple';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('the commands in the pods', () => {
  let cluster: Cluster;

  before('apply the manifests', async () => {
    cluster = sharedCluster();
    await cluster.applyOverlay(BASE);
  });

  /** Arguments of kubectl that run a command in a pod; `exec`: further arguments of `kubectl exec`. */
  const inPod = (command: string, ...exec: string[]): string[] => [
    ...['-n', NAMESPACE, 'exec', ...exec, 'deploy/ks-apiserver', '--', 'ks-apiserver'],
    ...command.split(' '),
  ];
  const start = (program: string, args: readonly string[]): ChildProcessWithoutNullStreams =>
    spawn(program, args, { env: cluster.env });

  async function endOf(child: ChildProcessWithoutNullStreams): Promise<Ended> {
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { code: child.exitCode ?? -1, stdout, stderr };
  }

  async function run(command: string, input?: string): Promise<Ended> {
    const args = inPod(command, ...(input === undefined ? [] : ['-i']));
    const child = start(cluster.kubectlProgram, args);
    child.stdin.on('error', () => undefined).end(input);
    return endOf(child);
  }

  async function signIn(username: string): Promise<number> {
    const { clusterIP, ca } = await cluster.service();
    const form = {
      grant_type: 'password',
      username,
      password: PASSWORD,
      client_id: 'platform',
      client_secret: 'platform',
    };
    return (await directRequest({ address: clusterIP, ca, path: '/oauth/token', form })).status;
  }

  it('print the version of the image', async () => {
    const { code, stdout } = await run('version');
    expect([code, stdout.split(' ').slice(0, 2)]).to.deep.equal([
      0,
      ['ks-apiserver', packageManifest.version],
    ]);
  });

  it('create a user with a password from standard input', async () => {
    const made = await run('user create ines --group staff', PASSWORD);
    expect(made).to.deep.equal({ code: 0, stdout: 'user ines created\n', stderr: '' });
    expect(await signIn('ines')).to.equal(200);
    const { code, stderr } = await run('user create ines', PASSWORD);
    expect(code).to.equal(1);
    expect(stderr).to.include('already exists; to set a new password: ks-apiserver user password ines');
  });

  it('create a user with a password that is typed twice, and not shown', async () => {
    const line = [cluster.kubectlProgram, ...inPod('user create kira', '-it')].join(' ');
    const child = start('script', ['--quiet', '--return', '--command', line, '/dev/null']);
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const before = shown;
      shown += chunk;
      for (const prompt of ['New password: ', 'Repeat new password: ']) {
        if (!before.includes(prompt) && shown.includes(prompt)) child.stdin.write(`${PASSWORD}\r`);
      }
    });
    await once(child, 'close');
    expect(shown).to.match(/New password: \r+\nRepeat new password: \r+\nuser kira created\r+\n$/);
    expect(shown).to.not.include(PASSWORD);
    expect(child.exitCode).to.equal(0);
    expect(await signIn('kira')).to.equal(200);
  });

  it('reset second factors, and end the sessions of the user', async () => {
    expect(await signIn('ines')).to.equal(200);
    const { code, stdout, stderr } = await run('user reset-factors ines');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/^one-time code of ines: /);
    const sessions = ['get', 'sessions.iam.platform.io', '--field-selector=spec.user=ines', '-o', 'name'];
    expect(await cluster.kubectl(...sessions)).to.equal('');
  });

  it('print the effective configuration of the pod, and check another one', async () => {
    const own = await run('config check');
    expect(own).to.deep.include({ code: 0, stderr: '' });
    const configuration = parse(own.stdout);
    expect(configuration.platform).to.deep.equal({ name: 'platform' });
    const again = await run('config check -', own.stdout);
    expect(again).to.deep.equal(own);
    const invalid = await run('config check -', own.stdout.replace('log:', 'lgo:'));
    expect([invalid.code, invalid.stdout]).to.deep.equal([2, '']);
    expect(invalid.stderr).to.match(/^ks-apiserver: standard input:\d+:1: lgo: unknown option/);
  });
});
