// Tests of the commands of ks-apiserver as child processes: help, invalid command lines and exit codes.
import { expect } from 'chai';
import { COMMANDS } from '../../../../server/commands/commands.ts';
import { runCommand as run } from './started-command.ts';

describe('ks-apiserver', function () {
  this.timeout(120_000);

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
      /^ks-apiserver: there is no command "constructor"; /,
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
});
