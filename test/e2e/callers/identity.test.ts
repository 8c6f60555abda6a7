// Tests of access tokens that ks-apiserver issues, against ks-apiserver and kube-apiserver.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { expect } from 'chai';
import { until } from '../../support/until.ts';
import {
  NODES as NODE_COUNT,
  type Output,
  PASSWORD,
  PLATFORM_CLIENT,
  type Platform,
  RESOURCE,
} from '../platform.ts';
import { sharedPlatform } from '../shared-platform.ts';

const NODES = '/apis/resources.platform.io/v1alpha3/nodes';
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

describe('one sign-in for kube-apiserver and this server', () => {
  let platform: Platform;

  before(async () => {
    platform = await sharedPlatform();
    await platform.bind('platform-nodes-reader', '--group=developers');
    await platform.succeeding('create clusterrole cm --verb=list --resource=configmaps');
    await platform.bind('cm', '--user=alice');
    await platform.permitted('list configmaps --as=alice');
    await platform.permitted('list nodes.resources.platform.io --as=alice --as-group=developers');
    await platform.addUser('alice', PASSWORD, { groups: ['developers'] });
  });

  /** Starts a watch; `ended` resolves when it has ended. */
  async function watching(path: string, token: string): Promise<{ readonly ended: Promise<unknown> }> {
    const sent = request(new URL(path, platform.server.url), {
      ca: platform.controlPlane.ca,
      agent: false,
      headers: { authorization: `Bearer ${token}` },
    });
    sent.end();
    const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
    expect(incoming.statusCode).to.equal(200);
    return { ended: once(incoming.resume(), 'end') };
  }

  const kubectlWith = (token: string, ...args: string[]): Promise<Output> =>
    platform.kubectl(...platform.flags(token), ...args);

  async function trustedToken(): Promise<string> {
    const token = await platform.signIn('alice');
    await platform.accepted(token);
    return token;
  }

  it('lets kubectl use the access token at both, with RBAC for the user and for groups', async () => {
    const token = await trustedToken();
    const who = await kubectlWith(token, 'auth', 'whoami', '-o', 'json');
    const { status } = JSON.parse(who.stdout) as { status: { userInfo: Record<string, unknown> } };
    expect(status.userInfo).to.deep.include({
      username: 'alice',
      groups: ['developers', 'system:authenticated'],
    });
    expect(status.userInfo['extra'])
      .to.have.property(CREDENTIAL_ID)
      .with.nested.property('[0]')
      .that.matches(/^JTI=ks\.s-[a-z2-7]{20}\./);
    expect(
      (await kubectlWith(token, 'get', RESOURCE, '-o', 'name')).stdout.trim().split('\n'),
    ).to.have.length(NODE_COUNT);
    expect((await kubectlWith(token, 'get', 'configmaps', '-A')).code).to.equal(0);
    expect((await kubectlWith(token, 'get', 'secrets', '-A')).stderr).to.include(
      'User "alice" cannot list resource "secrets"',
    );
    const direct = await platform.ask(NODES, { token });
    expect(direct.status).to.equal(200);
    expect(direct.body['items']).to.have.length(NODE_COUNT);
  });

  it('ignores an invalid bearer token at the endpoints that use none', async () => {
    const { body: login } = await platform.grant('alice');
    const send = (path: string, form?: Readonly<Record<string, string>>) =>
      platform.client.send(path, {
        token: 'not.a.token',
        ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
      });
    const refresh = { grant_type: 'refresh_token', refresh_token: String(login['refresh_token']) };
    const refreshed = await send('/oauth/token', { ...PLATFORM_CLIENT, ...refresh });
    expect(refreshed.status, refreshed.body).to.equal(200);
    const token = String((JSON.parse(refreshed.body) as Record<string, unknown>)['access_token']);
    for (const path of ['/oauth/.well-known/openid-configuration', '/oauth/keys']) {
      expect((await send(path)).status, path).to.equal(200);
    }
    // It ends nothing, so it reports no success.
    expect((await send('/oauth/logout')).status).to.equal(400);
    expect((await platform.ask(NODES, { token })).status).to.equal(200);
    expect((await send('/oauth/revoke', { ...PLATFORM_CLIENT, token })).status).to.equal(200);
    await until(async () => (await platform.ask(NODES, { token })).status === 401);
    for (const path of ['/oauth/userinfo', NODES, '/api/v1/nodes']) {
      expect((await send(path)).status, path).to.equal(401);
    }
  });

  it('rejects a deleted session, directly and through kube-apiserver', async () => {
    const token = await trustedToken();
    expect((await kubectlWith(token, 'get', RESOURCE)).code).to.equal(0);
    const watch = `${NODES}?watch=1&timeoutSeconds=600`;
    const { ended } = await watching(watch, token);
    const handedOn = platform.spawnKubectl(...platform.flags(token), 'get', '--raw', watch);
    const exit = once(handedOn, 'exit');
    if (handedOn.stdout) await once(handedOn.stdout, 'data');
    await platform.succeeding('delete sessions.iam.platform.io --all');
    await until(async () => (await platform.ask(NODES, { token })).status === 401);
    // Nor in an encoding that our authenticator does not recognize and passes to kube-apiserver, which may accept it.
    const padded = token.split('.').map((part) => `${part}${'='.repeat((4 - (part.length % 4)) % 4)}`);
    for (const other of [`${token}=`, `${token}==`, padded.join('.')]) {
      expect((await platform.ask(NODES, { token: other })).status).to.equal(401);
    }
    const aggregated = await kubectlWith(token, 'get', '--raw', NODES);
    expect(aggregated.code).not.to.equal(0);
    expect(aggregated.stderr).to.match(/Unauthorized|must be logged in/);
    // Running watches end too, direct ones and those through kube-apiserver.
    await ended;
    expect(await exit).to.deep.equal([0, null]);
    // kube-apiserver does not know sessions: its own APIs accept the token until it expires.
    expect((await kubectlWith(token, 'get', 'configmaps', '-A')).code).to.equal(0);
  });

  it('signs out all users after an immediate key rotation, and lets them sign in again', async () => {
    const token = await platform.signIn('alice');
    expect((await platform.ask(NODES, { token })).status).to.equal(200);
    const secret = ['-n', 'platform-system', 'secret', 'ks-apiserver-signing-keys'];
    await platform.succeeding('annotate', ...secret, 'ks-apiserver/rotate-keys=immediate');
    await until(async () => (await platform.ask(NODES, { token })).status === 401);
    expect((await platform.ask(NODES, { token: await platform.signIn('alice') })).status).to.equal(200);
    expect((await platform.ask(NODES, { token })).status).to.equal(401);
  });
});
