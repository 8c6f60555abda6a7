// Tests of the commands of ks-apiserver as child processes: help, invalid command lines and exit codes.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { COMMANDS } from '../../../../server/commands/commands.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { runCommand as run } from './started-command.ts';

describe('ks-apiserver', () => {
  it('lists its commands', async () => {
    const { code, stdout } = await run(['--help']);
    expect(code).to.equal(0);
    for (const name of Object.keys(COMMANDS)) expect(stdout).to.match(new RegExp(`^ {2}${name} +\\w`, 'm'));
  });

  it('rejects an unknown command with a suggestion and the names of the commands', async () => {
    expect(await run(['usr', 'create', 'ada'])).to.deep.equal({
      code: 2,
      stdout: '',
      stderr: `ks-apiserver: there is no command "usr"; did you mean user? The commands are ${new Intl.ListFormat('en-GB').format(Object.keys(COMMANDS))}.\n`,
    });
    expect((await run(['constructor'])).stderr).to.match(
      /^ks-apiserver: there is no command "constructor"; see --help\. The commands are user, /,
    );
  });

  for (const name of Object.keys(COMMANDS)) {
    describe(name, () => {
      it('prints its help, and does nothing else', async () => {
        const { code, stdout, stderr } = await run([name, '--help']);
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
        expect(stdout).to.match(new RegExp(`^Usage: ks-apiserver ${name}`));
      });

      it('rejects an unknown flag', async () => {
        const { code, stdout, stderr } = await run([name, '--frobnicate']);
        expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
        expect(stderr).to.equal('ks-apiserver: unknown flag --frobnicate; see --help\n');
      });
    });
  }

  it('prints the same version as a command and as a flag', async () => {
    const { code, stdout } = await run(['version']);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^ks-apiserver \d+\.\d+\.\d+ /);
    expect((await run(['--version'])).stdout).to.equal(stdout);
  });

  it('names the npm script that ran it', async () => {
    const env = { npm_lifecycle_event: 'user' };
    expect((await run(['user', '--help'], { env })).stdout).to.match(/^Usage: npm run user -- create NAME/);
    const consumed = await run(['user', 'create', 'ada'], {
      env: { ...env, npm_config_must_change: 'true' },
    });
    expect(consumed.code).to.equal(2);
    expect(consumed.stderr).to.include('as in npm run user -- --must-change …');
  });

  it('exits with 1 and one line if there is no cluster', async () => {
    for (const args of [
      ['user', 'reset-factors', 'ada'],
      ['keys', 'list'],
    ]) {
      const { code, stdout, stderr } = await run(args);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.match(/^ks-apiserver: no kubeconfig: .*\n$/);
    }
  });

  it('prints no control characters of the cluster, a file or the command line', async () => {
    const hostile = '\u001b]0;owned\u0007\u009b2J\r';
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', code: 403 };
    const server = createServer((_, response) => {
      response.writeHead(403, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ ...status, message: `no${hostile}` }));
    });
    await using folder = await scratchFolder();
    const address = `http://127.0.0.1:${await listenOnLoopback(server)}`;
    const cluster = { server: address, 'insecure-skip-tls-verify': true };
    const kubeconfig = {
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'c',
    };
    await writeFile(join(folder.path, 'kubeconfig'), stringify(kubeconfig));
    await writeFile(join(folder.path, 'c.yaml'), stringify({ [`log${hostile}`]: {} }));
    const input = JSON.stringify({ items: [{ kind: 'User', metadata: { name: `a${hostile}` }, spec: {} }] });
    const commands = [
      ['keys', 'list', '--kubeconfig', 'kubeconfig'],
      ['user', 'restore', '-', '--kubeconfig', 'kubeconfig'],
      ['config', 'check', 'c.yaml'],
      ['--config', 'c.yaml'],
      [hostile],
    ];
    const ended = await Promise.all(commands.map((args) => run(args, { cwd: folder.path, input })));
    await closeNow(server);
    for (const [index, { code, stdout, stderr }] of ended.entries()) {
      const command = commands[index]?.join(' ');
      expect(code, command).to.be.oneOf([1, 2]);
      expect(stdout + stderr, command).to.match(/^[^\p{Cc}]+(?:\n[^\p{Cc}]+)*\n$/u);
    }
    expect(ended[0]?.stderr).to.include('no?]0;owned??2J?');
  });
});
