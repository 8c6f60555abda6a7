// Tests of `npm start` with a local control plane.
import { execFile } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { noteOnFailure, removeNote } from '../../support/failure-notes.ts';
import { listenOnLoopback } from '../../support/loopback.ts';
import { until } from '../../support/until.ts';
import { ClonedProject } from './clone.ts';
import { StartedProgram } from './started-program.ts';
import { theirKubeconfig } from './their-kubeconfig.ts';

const run = promisify(execFile);

/** kubectl prefers the client certificate of a kubeconfig to a token. */
const BARE_KUBECTL =
  'kubectl --kubeconfig /dev/null --server "$BASE" --certificate-authority "$CA" --token "$TOKEN"';

describe('npm start', function () {
  this.timeout(300_000);
  const clone = new ClonedProject();
  let printedFirst: string[];
  let printedLast: ReturnType<typeof ending>;

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
    await until(async () =>
      (await type([...advice.slice(0, 1), documents])).includes('apis/resources.platform.io/v1alpha3'),
    );
  }

  /** The user and the address at the end of the output. */
  function ending({ output }: StartedProgram): { user: string; password: string; address: string } {
    const lines = output.trimEnd().split('\n').slice(-3).join('\n');
    const pattern = /^User: +(\S+)\nPassword: (\S+)\n(https:\/\/127\.0\.0\.1:\d+\/\S+)$/;
    const [, user = '', password = '', address = ''] = pattern.exec(lines) ?? [];
    expect(address, lines).to.not.equal('');
    return { user, password, address };
  }

  it('becomes ready, prints commands that work, simulates a cluster that changes, and stops with Ctrl-C', async () => {
    const first = clone.start();
    await first.printed(/Ctrl-C stops everything/);
    printedFirst = first.advice;
    printedLast = ending(first);
    await described(first.advice);
    const printed = await type([
      ...first.advice,
      `${BARE_KUBECTL} get pods --all-namespaces`,
      'curl --cacert "$CA" -H "Authorization: Bearer $TOKEN" "$BASE/kapis/resources.platform.io/v1alpha3/search?q=cart"',
      'kubectl explain nodes --api-version resources.platform.io/v1alpha3',
      'TENANT=$(kubectl -n platform-system create token tenant)',
      'curl --cacert "$CA" -H "Authorization: Bearer $TENANT" "$BASE/kapis/resources.platform.io/v1alpha3/pods?facets=namespace&limit=0"',
    ]);
    expect(printed).to.include('STATUS');
    expect(printed).to.match(/^shop +cart-\S+ +1\/1 +Running/m);
    expect(printed).to.include('"reason":"CrashLoopBackOff"');
    expect(printed).to.include('"kind":"SearchResult"');
    expect(printed).to.match(/"facets":\{"namespace":\{"\w+":\d+,"\w+":\d+\}.*"partial":true/);
    expect(printed).to.include('GROUP:');
    expect(printed).to.include('"query":{"total":');
    const databases = (): Promise<string> =>
      type([
        ...first.advice.slice(0, 1),
        'kubectl get databases --all-namespaces --no-headers -o custom-columns=:.status.connections',
      ]);
    const before = await databases();
    await until(async () => (await databases()) !== before);
    await type([...first.advice.slice(0, 1), 'kubectl create configmap kept --from-literal=a=b']);
    first.signal('SIGINT');
    expect(await first.end()).to.deep.equal({ code: 130, left: [] });
  });

  describe('again', () => {
    const requested: string[] = [];
    const elsewhere = createServer((socket) => {
      socket.once('error', () => undefined).once('data', (data) => requested.push(data.toString('latin1')));
      socket.end();
    });
    let proxy: string;
    let program: StartedProgram;
    let environment: string[];
    const logs = ['ks-apiserver', 'kube-apiserver'].map((name) => ({ name }));

    before(async () => {
      proxy = `http://127.0.0.1:${await listenOnLoopback(elsewhere)}`;
      const kubeconfig = join(clone.dir, 'their.kubeconfig');
      await writeFile(kubeconfig, theirKubeconfig(proxy));
      program = new StartedProgram(clone.dir, ['--static'], {
        env: {
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
        },
      });
      await program.printed(/Ctrl-C stops everything/);
      environment = program.advice.slice(0, 1);
      for (const log of logs) {
        const file = join(clone.dir, `.local/control-plane/logs/${log.name}.log`);
        noteOnFailure(log, `the log of ${log.name}`, () => readFile(file, 'utf8'));
      }
    });
    after(async () => {
      for (const log of logs) removeNote(log);
      await program?.kill();
      elsewhere.close();
    });

    it('keeps its state', async () => {
      expect(program.advice).to.deep.equal(printedFirst);
      expect(ending(program)).to.deep.equal(printedLast);
      const kept = await type([...environment, 'kubectl get configmap kept -o name']);
      expect(kept).to.equal('configmap/kept\n');
    });

    it('ends with an address to open, and with an administrator whose tokens kube-apiserver accepts', async () => {
      const { user, password, address } = ending(program);
      const page = `curl --silent --show-error --fail --location --cacert "$CA" '${address}'`;
      expect(await type([...environment, page])).to.include('<!doctype html>');
      const form = new URLSearchParams({ grant_type: 'password', username: user, password });
      const signIn = `curl --silent --cacert "$CA" -u platform:platform "$BASE/oauth/token" -d '${form.toString()}'`;
      const token = `TOKEN=$(${signIn} | cut -d '"' -f 4)`;
      const printed = await type([...environment, token, `${BARE_KUBECTL} auth whoami`]);
      expect(printed).to.match(/^Username +ada$[^]*platform-admins/m);
      const { mode } = await stat(join(clone.dir, '.local/server/password.json'));
      expect(mode & 0o077).to.equal(0);
    });

    it('has kubelogin on the PATH for the kubeconfig of the sign-in', async () => {
      const command = `npm --prefix '${clone.dir}' run --silent kubeconfig -- --issuer "$BASE/oauth" --certificate-authority "$CA"`;
      const printed = await type([...environment, command, 'command -v kubectl-oidc_login']);
      expect(printed).to.match(/^ +command: kubectl-oidc_login$/m);
      expect(printed).to.include('certificate-authority-data: ');
      expect(printed.trimEnd()).to.match(/\.local\/bin\/kubectl-oidc_login$/);
    });

    it('serves an existing cluster without changing it, and leaves nothing running when the terminal is closed', async () => {
      const kubeconfig = join(clone.dir, '.local/control-plane/admin.kubeconfig');
      const count = 'kubectl get apiservices,all --all-namespaces -o name | sort';
      const before = await type([...environment, count]);

      const server = clone.start(['--kubeconfig', kubeconfig]);
      await server.printed(/Ctrl-C stops the server/);
      // PATH has our kubectl, because this machine may have none.
      const printed = await type([...environment, ...server.advice]);
      expect(printed).to.include('STATUS');
      expect(printed).to.include('readyz check passed');
      // Only the last of the earlier containers of a crash-looping pod has a log, so the total is a lower bound.
      expect(printed).to.match(/"reason":"NotCovered".*"query":\{"total":\d+,"totalRelation":"gte"/);
      expect(printed).to.include('"kind":"PodList"');
      expect(await type([...environment, count])).to.equal(before);
      // SIGHUP kills npm itself, so there is no exit code.
      server.signal('SIGHUP');
      expect((await server.end()).left).to.deep.equal([]);
    });

    it("ignores the user's kubeconfig, proxy and variables, and exits with one clear line when a program dies", async () => {
      const ready = 'curl --cacert "$CA" "$BASE/readyz?verbose"';
      const printed = await type([`export https_proxy=${proxy}`, ...environment, ready]);
      expect(printed).to.include('readyz check passed');
      const pidFile = join(clone.dir, '.local/control-plane/run/ks-apiserver.json');
      const { pid } = JSON.parse(await readFile(pidFile, 'utf8')) as { pid: number };
      process.kill(pid, 'SIGKILL');
      expect(await program.end()).to.deep.equal({ code: 1, left: [] });
      expect(program.output).to.match(/^ks-apiserver was ended by SIGKILL; the end of its log /m);
      expect(requested).to.deep.equal([]);
      expect(await readFile(join(clone.dir, 'their.kubeconfig'), 'utf8')).to.equal(theirKubeconfig(proxy));
    });
  });
});
