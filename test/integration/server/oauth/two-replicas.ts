// Tests of two replicas of the authorization server, against a real control plane.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { array, record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { until } from '../../../support/until.ts';
import { kubectl as kubectlOf } from '../../hack/control-plane/programs.ts';
import { type HTTPResponse, type OAuthCluster, type OAuthReplica } from './oauth-cluster.ts';

const PASSWORD = 'correct horse battery staple';
const CLIENT = { client_id: 'platform', client_secret: 'platform' };

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

export function describeReplicas(subject: () => OAuthCluster): void {
  describe('two replicas of the authorization server', () => {
    let cluster: OAuthCluster;
    let a: OAuthReplica;
    let b: OAuthReplica;

    before(async () => {
      cluster = subject();
      a = await cluster.replica();
      b = await cluster.replica();
      for (const name of ['alice', 'bob', 'carol', 'dave', 'erin', 'ida'])
        await cluster.addUser(name, PASSWORD);
    });
    after(() => cluster.reset());

    const kubectl = (...args: string[]): Promise<string> => kubectlOf(cluster.controlPlane, ...args);

    async function signIn(at: OAuthReplica, username = 'alice'): Promise<Tokens> {
      const form = { grant_type: 'password', username, password: PASSWORD, scope: 'openid', ...CLIENT };
      const answer = await at.post('/token', form);
      expect(answer.status, answer.text).to.equal(200);
      return JSON.parse(answer.text) as Tokens;
    }
    const refresh = (at: OAuthReplica, { refresh_token }: Tokens): Promise<HTTPResponse> =>
      at.post('/token', { grant_type: 'refresh_token', refresh_token, ...CLIENT });
    const statusOf = async (at: OAuthReplica, { access_token }: Tokens): Promise<number> =>
      (await at.send('GET', `${at.address}/userinfo`, { authorization: `Bearer ${access_token}` })).status;

    /** The bench measures the delay. */
    const untilRefused = (at: OAuthReplica, tokens: Tokens): Promise<void> =>
      until(async () => (await statusOf(at, tokens)) === 401);
    const sessionsOf = async (user: string): Promise<string[]> => {
      const path = `/apis/iam.platform.io/v1beta1/sessions?fieldSelector=spec.user%3D${user}`;
      const { items } = record(await cluster.controlPlane.client.get(path));
      return array(items).map((item) => text(recordIn(item, 'metadata')['name']));
    };

    it('accept tokens of each other at once', async () => {
      for (let round = 0; round < 5; round++) {
        const tokens = await signIn(a);
        expect(await statusOf(b, tokens)).to.equal(200);
        const refreshed = await refresh(b, tokens);
        expect(refreshed.status, refreshed.text).to.equal(200);
        expect(await statusOf(a, JSON.parse(refreshed.text) as Tokens)).to.equal(200);
      }
    });

    it('reject tokens that the other replica has revoked', async () => {
      for (const part of ['access_token', 'refresh_token'] as const) {
        const tokens = await signIn(a);
        expect(await statusOf(b, tokens)).to.equal(200);
        const { status } = await a.post('/revoke', { token: tokens[part], ...CLIENT });
        expect(status).to.equal(200);
        expect(await statusOf(a, tokens)).to.equal(401);
        await untilRefused(b, tokens);
        expect((await refresh(b, tokens)).status).to.equal(400);
      }
    });

    it('reject tokens of a session that was signed out at the other replica or deleted by kubectl', async () => {
      const tokens = await signIn(a);
      const headers = { authorization: `Bearer ${tokens.access_token}` };
      expect((await b.send('GET', `${b.address}/logout`, headers)).text).to.equal('{"message":"success"}');
      await untilRefused(a, tokens);
      const other = await signIn(b, 'bob');
      const [session] = await sessionsOf('bob');
      await kubectl('delete', 'session', session ?? '');
      await untilRefused(a, other);
      await untilRefused(b, other);
    });

    it('terminate the session when both refresh it at the same time', async () => {
      const tokens = await signIn(a);
      const responses = await Promise.all([refresh(a, tokens), refresh(b, tokens)]);
      expect(responses.map(({ status }) => status)).to.have.members([200, 400]);
      await untilRefused(a, tokens);
      await untilRefused(b, tokens);
    });

    it('leave no session that is refreshed at one replica while it is revoked at the other', async () => {
      for (let round = 0; round < 10; round++) {
        const [here, there] = round % 2 === 0 ? [a, b] : [b, a];
        const tokens = await signIn(here);
        const [refreshed, revoked] = await Promise.all([
          refresh(here, tokens),
          there.post('/revoke', { token: tokens.refresh_token, ...CLIENT }),
        ]);
        expect(revoked.status, revoked.text).to.equal(200);
        expect([200, 400]).to.include(refreshed.status);
        const left = refreshed.status === 200 ? [tokens, JSON.parse(refreshed.text) as Tokens] : [tokens];
        for (const each of left) {
          await untilRefused(a, each);
          await untilRefused(b, each);
          expect((await refresh(there, each)).status).to.equal(400);
        }
      }
    });

    for (const [what, user, ...change] of [
      ['disabled', 'carol', 'patch', 'user.iam.platform.io', '{"spec":{"disabled":true}}'],
      [
        'with a changed password',
        'dave',
        'patch',
        'credential.iam.platform.io',
        '{"spec":{"changedTime":"TIME"}}',
      ],
      ['without a password', 'erin', 'delete', 'credential.iam.platform.io'],
    ] as const) {
      it(`reject a user who is ${what}, by kubectl`, async () => {
        const tokens = await signIn(a, user);
        const [verb, resource, patch] = change;
        const options = patch ? ['--type=merge', '-p', patch.replace('TIME', new Date().toISOString())] : [];
        await kubectl(verb, resource, user, ...options);
        await untilRefused(a, tokens);
        await untilRefused(b, tokens);
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
      await untilRefused(a, tokens);
      await untilRefused(b, tokens);
      expect((await refresh(b, tokens)).status).to.equal(400);
      expect(await statusOf(b, await signIn(a, 'ida'))).to.equal(200);
    });

    it('reject a user who was deleted by kubectl', async () => {
      const tokens = await signIn(b, 'bob');
      await kubectl('delete', 'user.iam.platform.io', 'bob');
      await untilRefused(a, tokens);
      await untilRefused(b, tokens);
    });

    it('delete the rejected sessions of all these users', async () => {
      for (const user of ['bob', 'carol', 'dave', 'erin']) {
        await until(async () => (await sessionsOf(user)).length === 0);
      }
      // The one with the recreated password stays.
      await until(async () => (await sessionsOf('ida')).length === 1);
    });
  });
}
