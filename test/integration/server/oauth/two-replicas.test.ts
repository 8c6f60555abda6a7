// Tests of two replicas of the authorization server, against a real control plane.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { text } from '../../../../apis/reading/unknown-value.ts';
import { until } from '../../../support/until.ts';
import { kubectl as kubectlOf } from '../../hack/control-plane/programs.ts';
import { patchOf } from '../iam/iam-cluster.ts';
import { type JSONObject, passwordGrant, refresh, userInfo } from './console-tokens.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const PASSWORD = 'correct horse battery staple';

describe('two replicas of the authorization server', () => {
  let cluster: OAuthCluster;
  let a: OAuthReplica;
  let b: OAuthReplica;

  before(async () => {
    cluster = await sharedCluster();
    const grants = ['password', 'refresh_token'];
    [a, b] = await cluster.replicas({ clients: [{ id: 'console', public: true, grants }] });
    for (const name of ['alice', 'bob', 'carol', 'dave', 'erin', 'ida'])
      await cluster.addUser(name, PASSWORD);
  });
  after(() => cluster.reset());

  const kubectl = (...args: string[]): Promise<string> => kubectlOf(cluster.controlPlane, ...args);

  async function signIn(at: OAuthReplica, username = 'alice'): Promise<JSONObject> {
    const { status, json } = await passwordGrant(at, username, PASSWORD);
    expect(status, JSON.stringify(json)).to.equal(200);
    return json;
  }
  const statusOf = async (at: OAuthReplica, tokens: JSONObject): Promise<number> =>
    (await userInfo(at, tokens)).status;
  const revoke = (at: OAuthReplica, token: unknown) =>
    at.ask('/oauth/revoke', { form: { token: text(token), client_id: 'console' } });

  /** Both replicas reject the tokens. The bench measures the delay. */
  async function untilRefused(tokens: JSONObject): Promise<void> {
    for (const at of [a, b]) await until(async () => (await statusOf(at, tokens)) === 401);
  }
  const passwordChange = () => ({ changedTime: new Date().toISOString() });
  const sessionsOf = async (user: string): Promise<string[]> =>
    (await cluster.objects('sessions', `?fieldSelector=spec.user%3D${user}`)).map(({ name }) => name);

  it('accept tokens of each other at once', async () => {
    for (let round = 0; round < 5; round++) {
      const tokens = await signIn(a);
      expect(await statusOf(b, tokens)).to.equal(200);
      const refreshed = await refresh(b, tokens);
      expect(refreshed.status, JSON.stringify(refreshed.json)).to.equal(200);
      expect(await statusOf(a, refreshed.json)).to.equal(200);
    }
  });

  it('reject tokens that the other replica has revoked', async () => {
    for (const part of ['access_token', 'refresh_token'] as const) {
      const tokens = await signIn(a);
      expect(await statusOf(b, tokens)).to.equal(200);
      expect((await revoke(a, tokens[part])).status).to.equal(200);
      expect(await statusOf(a, tokens)).to.equal(401);
      await untilRefused(tokens);
      expect((await refresh(b, tokens)).status).to.equal(400);
    }
  });

  it('reject tokens of a session that was signed out at the other replica or deleted by kubectl', async () => {
    const tokens = await signIn(a);
    const headers = { authorization: `Bearer ${text(tokens['access_token'])}` };
    expect((await b.ask('/oauth/logout', { headers })).text).to.equal('{"message":"success"}');
    await untilRefused(tokens);
    const other = await signIn(b, 'bob');
    const [session] = await sessionsOf('bob');
    await kubectl('delete', 'session', session ?? '');
    await untilRefused(other);
  });

  it('leave no session that is refreshed at one replica while it is revoked at the other', async () => {
    for (let round = 0; round < 10; round++) {
      const [here, there] = round % 2 === 0 ? [a, b] : [b, a];
      const tokens = await signIn(here);
      const [refreshed, revoked] = await Promise.all([
        refresh(here, tokens),
        revoke(there, tokens['refresh_token']),
      ]);
      expect(revoked.status, revoked.text).to.equal(200);
      expect([200, 400]).to.include(refreshed.status);
      const left = refreshed.status === 200 ? [tokens, refreshed.json] : [tokens];
      for (const each of left) {
        await untilRefused(each);
        expect((await refresh(there, each)).status).to.equal(400);
      }
    }
  });

  for (const [what, user, command] of [
    ['deleted', 'bob', () => ['delete', 'user.iam.platform.io/bob']],
    ['disabled', 'carol', () => patchOf('user.iam.platform.io/carol', { disabled: true })],
    ['with a changed password', 'dave', () => patchOf('credential.iam.platform.io/dave', passwordChange())],
    ['without a password', 'erin', () => ['delete', 'credential.iam.platform.io/erin']],
  ] as const) {
    it(`reject a user who is ${what}, by kubectl`, async () => {
      const tokens = await signIn(a, user);
      await kubectl(...command());
      await untilRefused(tokens);
      expect((await refresh(b, tokens)).status).to.equal(400);
    });
  }

  it('reject a session whose password was recreated with the same time', async () => {
    const tokens = await signIn(a, 'ida');
    const credential = 'credential.iam.platform.io/ida';
    const saved = JSON.parse(await kubectl('get', credential, '-o', 'json')) as object;
    const file = join(cluster.controlPlane.dir, 'ida.json');
    await writeFile(file, JSON.stringify({ ...saved, metadata: { name: 'ida' } }));
    await kubectl('replace', '--force', '-f', file);
    await untilRefused(tokens);
    expect((await refresh(b, tokens)).status).to.equal(400);
    expect(await statusOf(b, await signIn(a, 'ida'))).to.equal(200);
  });

  it('delete the rejected sessions of all these users', async () => {
    for (const user of ['bob', 'carol', 'dave', 'erin']) {
      await until(async () => (await sessionsOf(user)).length === 0);
    }
    // The one with the recreated password stays.
    await until(async () => (await sessionsOf('ida')).length === 1);
  });
});
