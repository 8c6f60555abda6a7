// Tests of user and password management with kubectl and `npm run user`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Output, type Platform } from './platform.ts';

const ROOT = join(import.meta.dirname, '../..');
const USERS = '/kapis/iam.platform.io/v1beta1/users';
const PASSWORD = 'correct horse battery staple';

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export function describeUsers(subject: () => Platform): void {
  describe('users of a platform', () => {
    let platform: Platform;

    before(async () => {
      platform = subject();
    });

    /** `npm run user` without npm. */
    async function user(input: string, ...args: string[]): Promise<Output> {
      const child = spawn(process.execPath, ['hack/user.ts', ...args], {
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

    async function send(
      method: string,
      path: string,
      type: string,
      body: string,
      token?: string,
    ): Promise<Answer> {
      const sent = request(new URL(path, platform.server.url), {
        ca: platform.controlPlane.ca,
        agent: false,
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === '' ? {} : { 'content-type': type }),
        },
      });
      sent.end(body);
      const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
      return {
        status: incoming.statusCode ?? 0,
        body: JSON.parse(await text(incoming)) as Record<string, unknown>,
      };
    }

    const rest = (token: string, method: string, path: string, body?: object): Promise<Answer> =>
      send(method, `${USERS}${path}`, 'application/json', body ? JSON.stringify(body) : '', token);

    const ask = (username: string, password: string): Promise<Answer> => {
      const client = { client_id: 'platform', client_secret: 'platform' };
      const form = new URLSearchParams({ grant_type: 'password', username, password, ...client });
      return send('POST', '/oauth/token', 'application/x-www-form-urlencoded', form.toString());
    };

    /** Signs in, and retries until the server has synced the last change. */
    async function signIn(username: string, password: string): Promise<string> {
      const signal = AbortSignal.timeout(60_000);
      for (;;) {
        const { status, body } = await ask(username, password);
        if (status === 200) return String(body['access_token']);
        if (signal.aborted) throw new Error(JSON.stringify(body));
        await delay(200);
      }
    }

    it('start with an administrator whose initial password is in the Secret and must be changed', async () => {
      const secret = 'secret/ks-apiserver-admin';
      const read = ['get', secret, '--namespace=platform-system', '-o', 'jsonpath={.data.password}'];
      const signal = AbortSignal.timeout(60_000);
      let encoded = '';
      while (encoded === '') {
        encoded = (await platform.kubectl(...read)).stdout;
        if (encoded === '') await delay(200, undefined, { signal });
      }
      const password = Buffer.from(encoded, 'base64').toString();
      expect(password).to.match(/^[\w-]{24}$/);
      // The server creates the Secret first, then the user, then the hash, so that a crash in between is harmless.
      const wait = ['wait', '--for=create', '--timeout=60s'];
      for (const made of ['user/admin', 'credential/admin']) await platform.succeeding(...wait, made);
      await platform.succeeding('wait', 'user/admin', '--for=jsonpath={.spec.groups[0]}=platform-admins');
      await platform.succeeding('wait', 'credential/admin', '--for=jsonpath={.spec.mustChange}=true');
      let answer = await ask('admin', password);
      while (!JSON.stringify(answer.body).includes('sign-in page')) {
        await delay(200, undefined, { signal });
        answer = await ask('admin', password);
      }
      expect([answer.status, answer.body['error']]).to.deep.equal([400, 'invalid_grant']);
      const log = await readFile(platform.server.logFile, 'utf8');
      expect(log).to.include('platform-system/ks-apiserver-admin').and.not.include(password);
    });

    it('are created by a command that reads the password from standard input', async () => {
      const made = await user(
        `${PASSWORD}\n`,
        'create',
        'alice',
        '--email',
        'alice@example.com',
        '--group',
        'developers',
      );
      expect(made).to.deep.equal({ code: 0, stdout: 'user alice created\n', stderr: '' });
      expect(await signIn('alice', PASSWORD)).to.match(/^ey/);
      expect(await platform.succeeding('get', 'users', '--no-headers')).to.match(
        /alice +alice@example\.com +\["developers"\]/,
      );
    });

    it('are not created with an invalid password or an existing name', async () => {
      const bad = await user('short', 'create', 'bob');
      expect([bad.code, bad.stderr]).to.deep.equal([1, 'the password must have at least 8 characters\n']);
      expect((await platform.kubectl('get', 'user', 'bob')).code).to.equal(1);
      const twice = await user(PASSWORD, 'create', 'alice');
      expect(twice.code).to.equal(1);
      expect(twice.stderr).to.include('already exists');
      expect((await user(PASSWORD, 'password', 'bob')).stderr).to.include('user bob not found');
      expect((await user('', 'create')).code).to.equal(2);
      const misnamed = await user(PASSWORD, 'create', 'Bob:x');
      expect([misnamed.code, misnamed.stderr.trim().split('\n').length]).to.deep.equal([2, 1]);
      expect(misnamed.stderr).to.include('invalid user name "Bob:x"');
    });

    it('may only change their own password, and sign in again with it', async () => {
      const token = await signIn('alice', PASSWORD);
      expect((await rest(token, 'GET', '')).status).to.equal(403);
      expect((await rest(token, 'GET', '/alice')).status).to.equal(403);
      const elsewhere = await rest(token, 'PUT', '/admin/password', { password: `${PASSWORD}!` });
      expect(elsewhere.status).to.equal(403);
      const wrong = await rest(token, 'PUT', '/alice/password', {
        currentPassword: 'guessed it',
        password: `${PASSWORD}!`,
      });
      expect(wrong.status, JSON.stringify(wrong.body)).to.equal(422);
      const changed = await rest(token, 'PUT', '/alice/password', {
        currentPassword: PASSWORD,
        password: `${PASSWORD}!`,
      });
      expect([changed.status, changed.body['message']]).to.deep.equal([200, 'success']);
      expect((await rest(token, 'PUT', '/alice/password', {})).status).to.equal(401);
      expect((await ask('alice', PASSWORD)).status).to.equal(400);
      expect(await signIn('alice', `${PASSWORD}!`)).to.match(/^ey/);
    });

    it('are managed by an administrator with a token only', async () => {
      expect((await user(PASSWORD, 'password', 'admin')).code).to.equal(0);
      const token = await signIn('admin', PASSWORD);
      const spec = { groups: ['developers'], email: 'carol@example.com' };
      const made = await rest(token, 'POST', '', { metadata: { name: 'carol' }, spec });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      const set = await rest(token, 'PUT', '/carol/password', { password: PASSWORD, mustChange: false });
      expect(set.status, JSON.stringify(set.body)).to.equal(200);
      const carol = await signIn('carol', PASSWORD);
      expect((await rest(carol, 'GET', '')).status).to.equal(403);
      const listed = await rest(token, 'GET', '?group=developers');
      expect(listed.body['totalItems']).to.equal(2);
      const bad = await rest(token, 'POST', '', {
        metadata: { name: 'dave' },
        spec: { groups: ['system:masters'] },
      });
      expect(bad.status).to.equal(422);

      const disabled = await rest(token, 'PUT', '/carol', {
        metadata: { name: 'carol' },
        spec: { ...spec, disabled: true },
      });
      expect(disabled.status).to.equal(200);
      expect((await rest(carol, 'GET', '')).status).to.equal(401);
      expect((await ask('carol', PASSWORD)).status).to.equal(400);
      expect((await rest(token, 'DELETE', '/carol')).status).to.equal(200);
      expect((await rest(token, 'GET', '/carol')).status).to.equal(404);
    });

    it('get a group only from a manager who may impersonate it', async () => {
      const role = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'users-manager' },
        rules: [
          { apiGroups: ['iam.platform.io'], resources: ['users', 'users/password'], verbs: ['*'] },
          { apiGroups: [''], resources: ['groups'], resourceNames: ['developers'], verbs: ['impersonate'] },
        ],
      };
      await platform.succeeding('apply', '-f', await platform.write('role.json', JSON.stringify(role)));
      await platform.succeeding(
        'create',
        'clusterrolebinding',
        'helpdesk',
        '--clusterrole=users-manager',
        '--user=helen',
      );
      await platform.permitted('create', 'users.iam.platform.io', '--as=helen');
      expect((await user(PASSWORD, 'create', 'helen')).code).to.equal(0);
      const token = await signIn('helen', PASSWORD);
      const document = (groups: string[]): object => ({ metadata: { name: 'erin' }, spec: { groups } });
      const refused = await rest(token, 'POST', '', document(['developers', 'platform-admins']));
      expect(refused.status).to.equal(403);
      expect(refused.body['message']).to.include(
        'granting or removing the group "platform-admins" requires permission',
      );
      expect((await rest(token, 'POST', '', document(['developers']))).status).to.equal(201);
      expect((await rest(token, 'PUT', '/erin', document(['platform-admins']))).status).to.equal(403);
      const password = await rest(token, 'PUT', '/admin/password', { password: `${PASSWORD}?` });
      expect(password.status).to.equal(403);
    });
  });
}
