// Tests of user and password management with kubectl and `ks-apiserver user`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { until } from '../../support/until.ts';
import { type Answer, type Output, PASSWORD, type Platform } from '../platform.ts';
import { sharedPlatform } from '../shared-platform.ts';

const ROOT = join(import.meta.dirname, '../../..');
const USERS = '/kapis/iam.platform.io/v1beta1/users';

describe('users of a platform', () => {
  let platform: Platform;

  before(async () => {
    platform = await sharedPlatform();
  });

  async function user(input: string, ...args: string[]): Promise<Output> {
    const child = spawn(process.execPath, ['server/main.ts', 'user', ...args], {
      cwd: ROOT,
      env: platform.environment(),
    });
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number]>,
    ]);
    return { code, stdout, stderr };
  }

  const rest = (
    token: string,
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<Answer> => platform.ask(`${USERS}${path}`, { method, token, body });

  it('are created by a command that reads the password from standard input', async () => {
    const args = 'create uma --email uma@example.com --group staff'.split(' ');
    const made = await user(`${PASSWORD}\n`, ...args);
    expect(made).to.deep.equal({ code: 0, stdout: 'user uma created\n', stderr: '' });
    expect(await platform.signIn('uma', PASSWORD)).to.match(/^ey/);
    expect(await platform.succeeding('get users --no-headers')).to.match(
      /uma +uma@example\.com +\["staff"\]/,
    );
  });

  it('are not created with an invalid password or an existing name', async () => {
    const bad = await user('short', 'create', 'bob');
    expect([bad.code, bad.stderr]).to.deep.equal([
      1,
      'ks-apiserver: the password must have at least 8 characters\n',
    ]);
    expect((await platform.kubectl('get user bob')).code).to.equal(1);
    const twice = await user(PASSWORD, 'create', 'uma');
    expect(twice.code).to.equal(1);
    expect(twice.stderr).to.include('already exists');
    expect((await user(PASSWORD, 'password', 'bob')).stderr).to.include('user bob not found');
  });

  it('are not created in a cluster without the platform, or without permission', async () => {
    const { code, stdout, stderr } = await user(PASSWORD, 'create', 'bob', '--platform', 'acme');
    expect([code, stdout, stderr]).to.deep.equal([
      1,
      '',
      'ks-apiserver: the cluster has no API iam.acme.io: its platform is platform: set --platform\n',
    ]);
    const token = await platform.signIn('uma', PASSWORD);
    await platform.accepted(token);
    const kubeconfig = await platform.writeKubeconfig('uma.kubeconfig', { token });
    const denied = await user(PASSWORD, 'create', 'bob', '--kubeconfig', kubeconfig);
    expect(denied.code).to.equal(1);
    expect(denied.stderr).to.match(
      /^ks-apiserver: users\.iam\.platform\.io is forbidden: User "uma" cannot create/,
    );
  });

  it('are restored with their passwords from a backup in standard input', async () => {
    await user(PASSWORD, 'create', 'rosa', '--group', 'staff');
    const objects = 'users.iam.platform.io/rosa credentials.iam.platform.io/rosa';
    const backup = await platform.succeeding(`get ${objects} -o json`);
    await platform.succeeding(`delete --ignore-not-found ${objects}`);
    expect(await user(backup, 'restore', '-')).to.deep.equal({
      code: 0,
      stdout: 'user rosa restored\npassword of rosa restored\n',
      stderr: '',
    });
    expect(await platform.signIn('rosa', PASSWORD)).to.match(/^ey/);
    expect(await user(backup, 'restore', '-')).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: 'user rosa already exists\nrosa already has a password\n',
    });
  });

  it('are restored without the password of an earlier user with the same name', async () => {
    await user(PASSWORD, 'create', 'rosalind');
    const objects = 'users.iam.platform.io/rosalind credentials.iam.platform.io/rosalind';
    const backup = await platform.succeeding(`get ${objects} -o json`);
    await platform.succeeding(`delete --ignore-not-found ${objects}`);
    const stale = backup.replaceAll(/("userUID": ")[^"]+"/g, '$1uid-of-an-earlier-user"');
    expect(await user(stale, 'restore', '-')).to.deep.equal({
      code: 1,
      stdout: 'user rosalind restored\n',
      stderr: 'password of rosalind skipped: it is not valid for the user rosalind\n',
    });
    expect((await platform.grant('rosalind', PASSWORD)).status).to.equal(400);
  });

  it('may only change their own password, and sign in again with it', async () => {
    const token = await platform.signIn('uma', PASSWORD);
    expect((await rest(token, 'GET', '')).status).to.equal(403);
    expect((await rest(token, 'GET', '/uma')).status).to.equal(403);
    const password = `${PASSWORD}!`;
    expect((await rest(token, 'PUT', '/admin/password', { password })).status).to.equal(403);
    const change = (currentPassword: string): Promise<Answer> =>
      rest(token, 'PUT', '/uma/password', { currentPassword, password });
    const wrong = await change('guessed it');
    expect(wrong.status, JSON.stringify(wrong.body)).to.equal(422);
    const changed = await change(PASSWORD);
    expect([changed.status, changed.body['message']]).to.deep.equal([200, 'success']);
    expect((await rest(token, 'PUT', '/uma/password', {})).status).to.equal(401);
    expect((await platform.grant('uma', PASSWORD)).status).to.equal(400);
    expect(await platform.signIn('uma', password)).to.match(/^ey/);
  });

  it('get a one-time code in place of their second factors, from an administrator or with the command', async () => {
    for (const name of ['olga', 'petra']) await user(PASSWORD, 'create', name);
    const olga = await platform.signIn('olga', PASSWORD);
    await user(PASSWORD, 'password', 'admin');
    const admin = await platform.signIn('admin', PASSWORD);
    expect((await rest(olga, 'POST', '/admin/factor-reset')).status).to.equal(403);
    const reset = await rest(admin, 'POST', '/olga/factor-reset');
    expect([reset.status, reset.body['kind']]).to.deep.equal([201, 'FactorReset']);
    expect((await rest(olga, 'GET', '')).status).to.equal(401);
    // The code is needed from now on, and a program cannot enter it.
    expect((await platform.grant('olga', PASSWORD)).status).to.equal(400);
    const petra = await platform.signIn('petra', PASSWORD);
    const { code, stdout } = await user('', 'reset-factors', 'petra');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^one-time code of petra: ([a-z2-7]{4}-){3}[a-z2-7]{4}\nvalid until 20/);
    await until(async () => (await rest(petra, 'GET', '')).status === 401);
    expect((await platform.grant('petra', PASSWORD)).status).to.equal(400);
    expect((await user('', 'reset-factors', 'nobody')).stderr).to.include('user nobody not found');
  });

  it('are managed by an administrator with a token only', async () => {
    expect((await user(PASSWORD, 'password', 'admin')).code).to.equal(0);
    const token = await platform.signIn('admin', PASSWORD);
    const metadata = { name: 'carol' };
    const spec = { groups: ['staff'] };
    expect((await rest(token, 'POST', '', { metadata, spec })).status).to.equal(201);
    const set = await rest(token, 'PUT', '/carol/password', { password: PASSWORD, mustChange: false });
    expect(set.status, JSON.stringify(set.body)).to.equal(200);
    const carol = await platform.signIn('carol', PASSWORD);
    const disabled = { metadata, spec: { ...spec, disabled: true } };
    expect((await rest(token, 'PUT', '/carol', disabled)).status).to.equal(200);
    expect((await rest(carol, 'GET', '')).status).to.equal(401);
    expect((await platform.grant('carol', PASSWORD)).status).to.equal(400);
  });
});
