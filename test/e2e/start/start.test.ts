// Tests of `npm start` with a local control plane.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { listenOnLoopback } from '../../support/loopback.ts';
import { ClonedProject } from './clone.ts';
import { theirKubeconfig } from './their-kubeconfig.ts';

const run = promisify(execFile);

describe('npm start', function () {
  this.timeout(300_000);
  const clone = new ClonedProject();

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
      expect(printed).to.match(/kube-apiserver rejects the tokens of|Unauthorized/);
      await delay(500, undefined, { signal });
    }
  }

  it('becomes ready, prints commands that work, stops with Ctrl-C, and keeps its state', async () => {
    const first = clone.start();
    await first.printed(/Ctrl-C stops everything/);
    // The commands that do not end, and the sign-in that needs a browser: login.test.ts tests it.
    const advice = first.advice.filter((line) => !/--watch|follow=true|ada\.kubeconfig/.test(line));
    await described(advice);
    const printed = await type(advice.slice(0, -1));
    expect(printed).to.include('STATUS');
    expect(printed).to.match(/^shop +cart-\S+ +1\/1 +Running/m);
    expect(printed).to.include('"kind":"NodeList"');
    expect(printed).to.include('"reason":"CrashLoopBackOff"');
    expect(printed).to.include('"kind":"SearchResult"');
    expect(printed).to.match(/"facets":\{"namespace":\{"shop":6,"payments":4\},.*"partial":true/);
    expect(printed).to.include('GROUP:');
    expect(printed).to.include('"query":{"total":');
    expect(printed).to.include('apiserver_request_total');
    expect(printed).to.include('readyz check passed');
    await takesToken([...advice.slice(0, 1), ...advice.slice(-2)]);
    await type([...advice.slice(0, 1), 'kubectl create configmap kept --from-literal=a=b']);
    first.signal('SIGINT');
    expect(await first.end()).to.deep.equal({ code: 130, left: [] });

    const second = clone.start();
    await second.printed(/Ctrl-C stops everything/);
    expect(second.advice).to.deep.equal(first.advice);
    expect(await type([...advice.slice(0, 1), 'kubectl get configmap kept -o name'])).to.equal(
      'configmap/kept\n',
    );
    // When the terminal is closed. SIGHUP kills npm itself, so there is no exit code.
    second.signal('SIGHUP');
    expect((await second.end()).left).to.deep.equal([]);
  });

  it("ignores the user's kubeconfig, proxy and variables, and exits with one clear line when a program dies", async () => {
    const requested: string[] = [];
    const elsewhere = createServer((socket) => {
      socket.once('error', () => undefined).once('data', (data) => requested.push(data.toString('latin1')));
      socket.end();
    });
    const proxy = `http://127.0.0.1:${await listenOnLoopback(elsewhere)}`;
    const kubeconfig = join(clone.dir, 'their.kubeconfig');
    await writeFile(kubeconfig, theirKubeconfig(proxy));
    const program = clone.start([], {
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
    const pidFile = join(clone.dir, '.local/control-plane/run/ks-apiserver.json');
    const { pid } = JSON.parse(await readFile(pidFile, 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    expect(await program.end()).to.deep.equal({ code: 1, left: [] });
    expect(program.output).to.match(/^ks-apiserver was ended by SIGKILL; the end of its log /m);
    elsewhere.close();
    expect(requested).to.deep.equal([]);
    expect(await readFile(kubeconfig, 'utf8')).to.equal(theirKubeconfig(proxy));
  });

  it('serves an existing cluster without changing it, and leaves nothing running when npm alone is killed', async () => {
    const local = clone.start();
    await local.printed(/Ctrl-C stops everything/);
    const kubeconfig = join(clone.dir, '.local/control-plane/admin.kubeconfig');
    const environment = local.advice.slice(0, 1);
    const count = 'kubectl get apiservices,all --all-namespaces -o name | sort';
    const before = await type([...environment, count]);

    const program = clone.start(['--kubeconfig', kubeconfig]);
    await program.printed(/Ctrl-C stops the server/);
    // PATH has our kubectl, because this machine may have none.
    const printed = await type([...environment, ...program.advice]);
    expect(printed).to.include('STATUS');
    expect(printed).to.include('readyz check passed');
    // Only the last of the earlier containers of a crash-looping pod has a log, so the total is a lower bound.
    expect(printed).to.match(/"reason":"NotCovered".*"query":\{"total":\d+,"totalRelation":"gte"/);
    expect(printed).to.include('"kind":"PodList"');
    expect(await type([...environment, count])).to.equal(before);
    program.signal('SIGTERM');
    expect(await program.end()).to.deep.equal({ code: 143, left: [] });

    local.killNpm();
    await local.gone();
  });
});
