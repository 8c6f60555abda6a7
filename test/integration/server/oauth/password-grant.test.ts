// Tests of the password grant against a real control plane.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { until } from '../../../support/until.ts';
import { NAMESPACE, type OAuthCluster, type OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const PASSWORD = 'correct horse battery staple';
const CLIENT = { client_id: 'platform', client_secret: 'platform' };
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`;
const QUICK_THROTTLE = { failures: 3, delay: 300_000, sourceFailures: 1000 };
const run = promisify(execFile);

describe('the password grant on a real cluster', () => {
  let cluster: OAuthCluster;
  let first: OAuthReplica;
  let second: OAuthReplica;
  let secretFile: string;

  before(async () => {
    cluster = await sharedCluster();
    secretFile = await cluster.write('secret', 'from a file\n');
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'ks-apiserver-clients' },
      stringData: { console: 'from a Secret' },
    };
    await cluster.controlPlane.client.expect(SECRETS, { method: 'POST', body }, [201]);
    first = await cluster.replica({}, QUICK_THROTTLE);
    const secretRef = { name: 'ks-apiserver-clients', key: 'console' };
    const clients = [
      { id: 'platform', secretFiles: [secretFile], grants: ['password', 'refresh_token'] },
      { id: 'console', secretRef, grants: ['password'] },
      { id: 'cli', public: true, grants: ['password'] },
    ];
    second = await cluster.replica({ clients }, QUICK_THROTTLE);
    await cluster.addUser('alice', PASSWORD, { email: 'alice@example.com', groups: ['developers'] });
  });
  after(() => cluster.reset());

  const signIn = (replica: OAuthReplica, form: Record<string, string> = {}) =>
    replica.ask('/oauth/token', {
      form: { grant_type: 'password', ...CLIENT, username: 'alice', password: PASSWORD, ...form },
    });
  const json = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

  it("returns the specification's response to the specification's form, sent by curl", async () => {
    const form = { grant_type: 'password', username: 'alice', password: PASSWORD, ...CLIENT };
    const fields = Object.entries(form).flatMap(([name, value]) => ['--data-urlencode', `${name}=${value}`]);
    const flags = ['--silent', '--show-error', '--fail', '--cacert', cluster.caFile];
    const { stdout } = await run('curl', [...flags, ...fields, `${first.issuer}/token`]);
    const response = json(stdout);
    const members = ['access_token', 'token_type', 'refresh_token', 'expires_in'];
    expect(Object.keys(response)).to.deep.equal(members);
    expect(response).to.include({ token_type: 'Bearer', expires_in: 7200 });
    expect(response['access_token']).to.match(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(response['refresh_token']).to.match(/^prt_s-/);
  });

  it('records the last login of a user', async () => {
    const path = '/apis/iam.platform.io/v1beta1/users/alice';
    let status: unknown;
    await until(async () => {
      status = json((await cluster.controlPlane.client.send(path)).body)['status'];
      return status !== undefined;
    });
    const { lastLoginTime } = status as { lastLoginTime: string };
    expect(Date.now() - Date.parse(lastLoginTime)).to.be.within(0, 180_000);
  });

  it('rejects a scope that is not allowed before it verifies the password', async () => {
    const response = await signIn(first, { scope: 'everything', password: 'wrong' });
    expect(json(response.text)['error']).to.equal('invalid_scope');
  });

  it('watches client secrets in files and Secrets', async () => {
    expect((await signIn(second, { client_secret: 'from a file' })).status).to.equal(200);
    const fromSecret = { client_id: 'console', client_secret: 'from a Secret' };
    expect((await signIn(second, fromSecret)).status).to.equal(200);
    expect((await signIn(second, { client_secret: 'platform' })).status).to.equal(401);

    await writeFile(secretFile, 'another one');
    const body = { stringData: { console: 'another one' } };
    const patch = { method: 'PATCH', contentType: 'application/merge-patch+json', body } as const;
    await cluster.controlPlane.client.expect(`${SECRETS}/ks-apiserver-clients`, patch, [200]);
    for (const client of ['platform', 'console']) {
      const form = { client_id: client, client_secret: 'another one', scope: 'none' };
      // The scope error shows that the client is authenticated.
      await until(async () => (await signIn(second, form)).status !== 401);
    }
    expect((await signIn(second, { client_secret: 'from a file' })).status).to.equal(401);
    expect((await signIn(second, fromSecret)).status).to.equal(401);
  });

  it('issues no refresh token to a client without the grant', async () => {
    const response = json((await signIn(second, { client_id: 'cli', client_secret: '' })).text);
    expect(response).not.to.have.property('refresh_token');
  });

  it('refreshes for KubeSphere consoles, which also send the refresh token as a bearer token', async () => {
    const login = json((await signIn(first)).text);
    const refresh_token = String(login['refresh_token']);
    const refreshed = await first.ask('/oauth/token', {
      form: { grant_type: 'refresh_token', refresh_token, ...CLIENT },
      headers: { authorization: `Bearer ${refresh_token}` },
    });
    expect(refreshed.status, refreshed.text).to.equal(200);
    const response = json(refreshed.text);
    expect(response['refresh_token'])
      .to.match(/^prt_s-/)
      .and.not.equal(refresh_token);
    const claims = json(
      Buffer.from(String(response['access_token']).split('.')[1] ?? '', 'base64url').toString(),
    );
    expect(claims).to.include({ sub: 'alice', username: 'alice' });
  });

  it('throttles guessing at every replica, and after a restart', async () => {
    await cluster.addUser('bob', PASSWORD);
    const guess = (replica: OAuthReplica) => {
      const client = replica === second ? { client_id: 'cli', client_secret: '' } : CLIENT;
      return signIn(replica, { ...client, username: 'bob', password: 'guess' });
    };
    for (const replica of [first, second, first]) expect((await guess(replica)).status).to.equal(400);
    const refused = await guess(first);
    expect([refused.status, json(refused.text)['error']]).to.deep.equal([429, 'invalid_grant']);
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 300);

    const map = `/api/v1/namespaces/${NAMESPACE}/configmaps/ks-apiserver-login-throttle`;
    const stored = await cluster.controlPlane.client.send(map);
    expect(stored.body).not.to.include('bob');
    const third = await cluster.replica({}, QUICK_THROTTLE);
    // Until the watch has delivered the failures, a replica responds with 400.
    for (const replica of [second, third]) await until(async () => (await guess(replica)).status === 429);

    // Deleting the ConfigMap resets every replica.
    expect((await cluster.controlPlane.client.send(map, { method: 'DELETE' })).status).to.equal(200);
    for (const replica of [first, second, third]) {
      await until(async () => (await guess(replica)).status !== 429);
    }
  });

  it('writes audit records of successes and failures, without secrets', async () => {
    await signIn(first, { username: 'nobody' });
    const logins = first.audited.filter(({ stage }) => stage === 'Login');
    expect(logins.map(({ outcome }) => outcome)).to.include.members([
      'success',
      'wrong_password',
      'unknown_user',
      'throttled',
    ]);
    expect(logins.find(({ outcome }) => outcome === 'success')).to.include({
      user: 'alice',
      client: 'platform',
      method: 'password_grant',
      source: '127.0.0.1',
    });
    expect(JSON.stringify(first.audited)).not.to.include(PASSWORD).and.not.to.include('nobody');
    const metrics = await first.metrics.metrics();
    expect(metrics).to.include('oauth_default_client_in_use 1');
    expect(metrics).to.match(
      /oauth_logins_total\{method="password_grant",outcome="success",client="platform"\} \d/,
    );
    expect(await second.metrics.metrics()).to.include('oauth_default_client_in_use 0');
  });
});
