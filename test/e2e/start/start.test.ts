import { execFile, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { listenOnLoopback } from '../../support/loopback.ts';
import { cloneProject } from './clone.ts';
import { StartedProgram } from './started-program.ts';

const run = promisify(execFile);

describe('npm start', function () {
  this.timeout(300_000);

  let clone: Awaited<ReturnType<typeof cloneProject>>;
  let programs: StartedProgram[];

  before(async () => {
    clone = await cloneProject();
    programs = [];
  });

  afterEach(async () => {
    for (const program of programs.splice(0)) await program.kill();
  });

  after(async () => {
    await clone.remove();
  });

  function start(...args: string[]): StartedProgram {
    return startWith({}, ...args);
  }

  function startWith(env: NodeJS.ProcessEnv, ...args: string[]): StartedProgram {
    const program = new StartedProgram(clone.dir, args, { env });
    programs.push(program);
    return program;
  }

  /** Runs the printed commands in a shell in another folder. */
  async function type(commands: readonly string[]): Promise<string> {
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', commands.join('\n')], {
      maxBuffer: 16 * 1024 * 1024,
      cwd: '/',
      env: { ...process.env, HOME: clone.dir },
    });
    return stdout;
  }

  /** Waits until kube-apiserver serves our OpenAPI, for which npm start waits only a limited time. */
  async function described(advice: readonly string[]): Promise<void> {
    const documents = 'kubectl get --raw /openapi/v3';
    const signal = AbortSignal.timeout(120_000);
    while (
      !(await type([...advice.slice(0, 1), documents])).includes('apis/resources.platform.io/v1alpha3')
    ) {
      await delay(200, undefined, { signal });
    }
  }

  /** Waits until kube-apiserver accepts the token: it fetches the keys of a new issuer every ten seconds. */
  async function takesToken(commands: readonly string[]): Promise<void> {
    const signal = AbortSignal.timeout(60_000);
    for (;;) {
      const printed = await type(commands).catch((error: unknown) => String(error));
      if (/^Username +ada$/m.test(printed)) return;
      expect(printed).to.include('Unauthorized');
      await delay(500, undefined, { signal });
    }
  }

  it('becomes ready, prints commands that work, stops with Ctrl-C, and keeps its state', async () => {
    const first = start();
    await first.printed(/Ctrl-C stops everything/);
    const advice = first.advice.filter((line) => !/--watch|follow=true/.test(line));
    await described(advice);
    const printed = await type(advice.slice(0, -1));
    expect(printed).to.include('STATUS');
    expect(printed).to.include('"kind":"NodeList"');
    expect(printed).to.include('GROUP:');
    expect(printed).to.include('"query":{"total":');
    expect(printed).to.include('apiserver_request_total');
    expect(printed).to.include('readyz check passed');
    await takesToken([...advice.slice(0, 1), ...advice.slice(-2)]);
    await type([...advice.slice(0, 1), 'kubectl create configmap kept --from-literal=a=b']);
    first.signal('SIGINT');
    expect(await first.end()).to.deep.equal({ code: 130, left: [] });

    const second = start();
    await second.printed(/Ctrl-C stops everything/);
    expect(second.advice).to.deep.equal(first.advice);
    expect(await type([...advice.slice(0, 1), 'kubectl get configmap kept -o name'])).to.equal(
      'configmap/kept\n',
    );
    second.signal('SIGTERM');
    expect(await second.end()).to.deep.equal({ code: 143, left: [] });
  });

  it('exits with one clear line when a program dies', async () => {
    const program = start();
    await program.printed(/Ctrl-C stops everything/);
    const pidFile = join(clone.dir, '.local/control-plane/run/ks-apiserver.json');
    const { pid } = JSON.parse(await readFile(pidFile, 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    expect(await program.end()).to.deep.equal({ code: 1, left: [] });
    expect(program.output).to.match(/^ks-apiserver was ended by SIGKILL; the end of its log /m);
  });

  for (const moment of [/starting kube-apiserver/, /Control plane: done/, /starting ks-apiserver/]) {
    it(`leaves nothing running when Ctrl-C comes after "${moment.source}"`, async () => {
      const program = start();
      await program.printed(moment);
      program.signal('SIGINT');
      expect(await program.end()).to.deep.equal({ code: 130, left: [] });
    });
  }

  it('stops everything when its terminal is closed', async () => {
    const program = start();
    await program.printed(/Ctrl-C stops everything/);
    program.signal('SIGHUP');
    // SIGHUP kills npm itself, so there is no exit code.
    expect((await program.end()).left).to.deep.equal([]);
  });

  for (const [whom, kill] of [
    ['npm alone was', (program) => program.killNpm()],
    ['it was, with npm,', (program) => program.signal('SIGKILL')],
  ] as const satisfies readonly (readonly [string, (program: StartedProgram) => void])[]) {
    it(`leaves nothing running when ${whom} killed`, async () => {
      const program = start();
      await program.printed(/Ctrl-C stops everything/);
      kill(program);
      await program.gone();
    });
  }

  it('leaves nothing running when the process in KS_START_PARENT was killed', async () => {
    const parent = spawn('sleep', ['300']);
    const program = startWith({ KS_START_PARENT: String(parent.pid) });
    await program.printed(/Ctrl-C stops everything/);
    parent.kill('SIGKILL');
    await program.gone();
  });

  it("ignores the user's kubeconfig, proxy and variables for other programs", async () => {
    const asked: string[] = [];
    const elsewhere = createServer((socket) => {
      socket.once('error', () => undefined).once('data', (data) => asked.push(data.toString('latin1')));
      socket.end();
    });
    const proxy = `http://127.0.0.1:${await listenOnLoopback(elsewhere)}`;
    const kubeconfig = join(clone.dir, 'their.kubeconfig');
    await writeFile(kubeconfig, theirKubeconfig(proxy));
    const program = startWith({
      KUBECONFIG: kubeconfig,
      HTTPS_PROXY: proxy,
      https_proxy: proxy,
      HTTP_PROXY: proxy,
      http_proxy: proxy,
      ALL_PROXY: proxy,
      NODE_USE_ENV_PROXY: '1',
      NODE_ENV: 'production',
      SSL_CERT_FILE: '/nowhere',
      ETCD_NAME: 'theirs',
    });
    await program.printed(/Ctrl-C stops everything/);
    const ready = program.advice.filter((line) => line.includes('/readyz'));
    const loadEnvironment = program.advice.slice(0, 1);
    expect(await type([`export https_proxy=${proxy}`, ...loadEnvironment, ...ready])).to.include(
      'readyz check passed',
    );
    program.signal('SIGINT');
    expect(await program.end()).to.deep.equal({ code: 130, left: [] });
    elsewhere.close();
    expect(asked).to.deep.equal([]);
    expect(await readFile(kubeconfig, 'utf8')).to.equal(theirKubeconfig(proxy));
  });

  it('serves an existing cluster without changing it', async () => {
    const local = start();
    await local.printed(/Ctrl-C stops everything/);
    const kubeconfig = join(clone.dir, '.local/control-plane/admin.kubeconfig');
    const environment = local.advice.slice(0, 1);
    const count = 'kubectl get apiservices,all --all-namespaces -o name | sort';
    const before = await type([...environment, count]);

    const program = start('--kubeconfig', kubeconfig);
    await program.printed(/Ctrl-C stops the server/);
    // PATH has our kubectl, because this machine may have none.
    const printed = await type([...environment, ...program.advice]);
    expect(printed).to.include('STATUS');
    expect(printed).to.include('readyz check passed');
    expect(printed).to.include('"totalRelation":"eq"');
    expect(await type([...environment, count])).to.equal(before);
    program.signal('SIGINT');
    expect(await program.end()).to.deep.equal({ code: 130, left: [] });
  });

  it("prints the end of the server's log when an existing cluster is unreachable", async () => {
    const nobody = createServer();
    const port = await listenOnLoopback(nobody);
    nobody.close();
    const kubeconfig = join(clone.dir, 'unreachable.kubeconfig');
    await writeFile(kubeconfig, theirKubeconfig(`https://127.0.0.1:${port}`));
    const program = start('--kubeconfig', kubeconfig);
    await program.printed(/The server is not ready yet; its log \S.* ends with:\n(.*\n){0,4}.*ECONNREFUSED/);
    program.signal('SIGINT');
    expect(await program.end()).to.deep.equal({ code: 130, left: [] });
  });

  it('reports in one line that the port is in use, before it starts anything', async () => {
    const other = createServer();
    const port = await listenOnLoopback(other);
    const program = start('--port', String(port));
    const ended = await program.end();
    other.close();
    expect(ended).to.deep.equal({ code: 1, left: [] });
    expect(program.output).to.include(`port ${port} is in use: stop the program that listens on it`);
    expect(program.output.toLowerCase()).not.to.include('control plane');
  });

  it('reports in one line that the kubeconfig is missing', async () => {
    const program = start('--kubeconfig', '/nowhere/config');
    expect(await program.end()).to.deep.equal({ code: 1, left: [] });
    expect(program.output.trim().split('\n').at(-1)).to.equal('--kubeconfig /nowhere/config: no such file');
  });

  it('suggests the nearest flag', async () => {
    const program = start('--node', '7');
    expect(await program.end()).to.deep.equal({ code: 2, left: [] });
    expect(program.output).to.include('unknown flag --node; did you mean --nodes?');
  });
});

function theirKubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'theirs',
    clusters: [{ name: 'theirs', cluster: { server } }],
    contexts: [{ name: 'theirs', context: { cluster: 'theirs', user: 'me' } }],
    users: [{ name: 'me', user: { token: 'secret' } }],
  });
}
