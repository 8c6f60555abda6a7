// Tests of the exec credential plugins of a kubeconfig.
import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { expect } from 'chai';
import { kubeConfigClass } from '../../../../../server/cluster/connection/client-node.ts';
import type { PluginOptions } from '../../../../../server/cluster/connection/exec-plugin.ts';
import { useExecPlugins } from '../../../../../server/cluster/connection/exec-plugins.ts';
import { FakeTimers } from '../../../../support/fake-timers.ts';
import { rejection } from '../../../../support/rejection.ts';
import { scratchFolderEach } from '../../../../support/scratch.ts';
import { until } from '../../../../support/until.ts';

const NAME = 'the exec plugin "/bin/sh" of the kubeconfig';
const PATIENT = { timeoutMs: 60_000, graceMs: 60_000, terminal: false } satisfies Partial<PluginOptions>;
const printing = (status: object): string =>
  `echo '${JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })}'`;

describe('exec plugins', () => {
  const folder = scratchFolderEach();

  /** Applies the credentials of a script, with further members of its entry. */
  function plugin(script: string, entry: object = {}, options: Partial<PluginOptions> = {}) {
    const Config = kubeConfigClass();
    const config = new Config();
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/sh', args: ['-c', script] };
    config.loadFromClusterAndUser(
      { name: 'c', server: 'https://cluster.example', skipTLSVerify: true },
      { name: 'u', exec: { ...exec, ...entry } },
    );
    useExecPlugins(config, {
      ...PATIENT,
      inherited: { PATH: process.env['PATH'], FOLDER: folder() },
      ...options,
    });
    return async (): Promise<RequestOptions> => {
      const applied: RequestOptions = {};
      await config.applyToHTTPSOptions(applied);
      return applied;
    };
  }
  async function failureOf(apply: () => Promise<unknown>): Promise<string> {
    return (await rejection(apply())).message;
  }
  /** Runs a plugin until it has written the file, and then until its timeout and its grace period. */
  async function lateFailureOf(apply: () => Promise<unknown>, file: string): Promise<string> {
    using timers = new FakeTimers();
    const failure = failureOf(apply);
    await until(() => (statSync(join(folder(), file), { throwIfNoEntry: false })?.size ?? 0) > 0);
    await timers.tick(500);
    await timers.tick(50);
    return await failure;
  }
  const written = async (name: string): Promise<string> =>
    (await readFile(join(folder(), name), 'utf8')).trim();

  it('return a token, or a certificate with its key', async () => {
    const { headers } = await plugin(printing({ token: 't' }))();
    expect(headers).to.deep.equal({ Authorization: 'Bearer t' });
    const { cert, key } = await plugin(
      printing({ clientCertificateData: 'the certificate', clientKeyData: 'the key' }),
    )();
    expect({ cert, key }).to.deep.equal({ cert: 'the certificate', key: 'the key' });
  });

  it('run once while their credential is valid', async () => {
    const runs = 'echo run >> $FOLDER/runs; ';
    const listening = process.listenerCount('exit');
    const lasting = plugin(runs + printing({ token: 't', expirationTimestamp: '2999-01-01T00:00:00Z' }));
    await lasting();
    await lasting();
    expect(await written('runs')).to.equal('run');
    const expired = plugin(runs + printing({ token: 't', expirationTimestamp: '2000-01-01T00:00:00Z' }));
    await expired();
    await expired();
    expect(await written('runs')).to.equal('run\nrun\nrun');
    // A finished plugin leaves no exit listener on this process.
    expect(process.listenerCount('exit')).to.equal(listening);
  });

  it('receive KUBERNETES_EXEC_INFO and the environment of the kubeconfig', async () => {
    const env = [{ name: 'PROFILE', value: 'a b' }];
    const script = `echo "$KUBERNETES_EXEC_INFO" > $FOLDER/info; echo "$PROFILE" > $FOLDER/profile; `;
    await plugin(script + printing({ token: 't' }), { env })();
    expect(await written('profile')).to.equal('a b');
    expect(JSON.parse(await written('info'))).to.deep.equal({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: { interactive: false },
    });
  });

  it('have no stdin without a terminal, and fail if they require one', async () => {
    expect((await plugin(`read -r line; ${printing({ token: 't' })}`)()).headers).to.have.property(
      'Authorization',
    );
    expect(await failureOf(plugin('exit 0', { interactiveMode: 'Always' }))).to.equal(
      `${NAME} requires a terminal`,
    );
  });

  it('are stopped with their children at the timeout, and run again for the next caller', async () => {
    const script = `
      if [ -e $FOLDER/tried ]; then ${printing({ token: 'at last' })}; exit; fi
      touch $FOLDER/tried
      (trap 'touch $FOLDER/ended; exit' TERM; sleep 600 & echo > $FOLDER/child; wait) &
      wait`;
    const apply = plugin(script, {}, { timeoutMs: 500 });
    expect(await lateFailureOf(apply, 'child')).to.equal(
      `${NAME} returned no credentials within 0.5 s and was stopped`,
    );
    await until(() => existsSync(join(folder(), 'ended')));
    expect((await apply()).headers).to.deep.equal({ Authorization: 'Bearer at last' });
  });

  it('can prompt on a terminal, until the timeout', async () => {
    const terminal = { terminal: true, timeoutMs: 500 };
    const script = 'echo "$KUBERNETES_EXEC_INFO" > $FOLDER/info; ';
    await plugin(script + printing({ token: 't' }), { interactiveMode: 'Always' }, terminal)();
    expect(JSON.parse(await written('info'))).to.have.nested.property('spec.interactive', true);
    await plugin(script + printing({ token: 't' }), { interactiveMode: 'Never' }, terminal)();
    expect(JSON.parse(await written('info'))).to.have.nested.property('spec.interactive', false);
    const late = plugin('echo > $FOLDER/started; exec sleep 600', {}, terminal);
    expect(await lateFailureOf(late, 'started')).to.include('within 0.5 s and was stopped');
  });

  it('are killed if they ignore SIGTERM, without waiting for detached children', async () => {
    const detached = `setsid sh -c 'echo $$ > $FOLDER/pid; exec sleep 600'`;
    const script = `trap '' TERM; echo $$ > $FOLDER/shell; ${detached} & sleep 600 & wait; wait`;
    const apply = plugin(script, {}, { timeoutMs: 500, graceMs: 50 });
    expect(await lateFailureOf(apply, 'pid')).to.include('was stopped');
    const [away, shell] = [Number(await written('pid')), Number(await written('shell'))];
    await until(() => !isRunning(shell));
    process.kill(away, 'SIGKILL');
  });

  it('fail with a reason that contains no credential', async () => {
    expect(await failureOf(plugin('echo "please log in" >&2; exit 3'))).to.equal(
      `${NAME} ended with code 3: please log in`,
    );
    expect(await failureOf(plugin('echo secret; exit 1'))).to.equal(`${NAME} ended with code 1`);
    expect(await failureOf(plugin('kill -s SEGV $$'))).to.equal(`${NAME} ended with SIGSEGV`);
    expect(await failureOf(plugin('echo secret'))).to.equal(`${NAME} printed no ExecCredential`);
    expect(await failureOf(plugin(printing({})))).to.equal(`${NAME} printed no ExecCredential`);
    const missing = { command: '/there/is/none', installHint: 'install it with apt' };
    expect(await failureOf(plugin('', missing))).to.match(
      /^the exec plugin "\/there\/is\/none" of the kubeconfig cannot be run: .*ENOENT: install it with apt$/,
    );
    expect(await failureOf(plugin('', { command: undefined }))).to.include('cannot be run');
  });

  it('are stopped when their output exceeds the limit, and have their stderr truncated in errors', async () => {
    const message = await failureOf(plugin('yes "no access" | head -c 200000 >&2; exit 1'));
    expect(message).to.have.length.below(1200);
    expect(await failureOf(plugin('yes'))).to.equal(`${NAME} printed more than 1 MiB and was stopped`);
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
