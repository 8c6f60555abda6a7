// Tests of second factors with two replicas of the authorization server, against a real control plane.
import { expect } from 'chai';
import { recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { SERVICE_ACCOUNT } from '../../../../hack/extension/registration.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import { hashOfCode, newRecoveryCode } from '../../../../server/oauth/factors/recovery-codes.ts';
import { newTOTPSecret } from '../../../../server/oauth/factors/totp.ts';
import { KEYS_SECRET, rotated } from '../../../../server/oauth/keys/key-rotator.ts';
import { KeySecret } from '../../../../server/oauth/keys/key-secret.ts';
import { newKey } from '../../../../server/oauth/keys/key-set.ts';
import { codeOf, secretOn } from '../../../support/oauth/second-factors.ts';
import { CHALLENGE, VERIFIER } from '../../../support/oauth/sign-in-state.ts';
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import type { SiteResponse } from '../../../support/oauth/site-request.ts';
import { until } from '../../../support/until.ts';
import { kubectl } from '../../hack/control-plane/programs.ts';
import { NAMESPACE, type OAuthCluster, type OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const PASSWORD = 'correct horse battery staple';
const REDIRECT = 'https://console.example.com/callback';
const CONFIGURATION = `
  clients:
    - {id: platform, public: true, grants: [password, refresh_token, authorization_code], redirectURIs: ["${REDIRECT}"]}`;
const REQUIRED = `${CONFIGURATION}
  secondFactor: {groups: [ops], enrolmentPeriod: 1h}`;
const CLIENT = { client_id: 'platform' };
const AUTHORIZE = `/oauth/authorize?${new URLSearchParams({
  ...CLIENT,
  response_type: 'code',
  redirect_uri: REDIRECT,
  scope: 'openid',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
}).toString()}`;
const DAY_MS = 86_400_000;
const { signal } = new AbortController();

describe('second factors with two replicas', () => {
  let cluster: OAuthCluster;
  let a: OAuthReplica;
  let b: OAuthReplica;

  before(async () => {
    cluster = await sharedCluster();
  });
  beforeEach(async () => {
    a = await cluster.replica(CONFIGURATION);
    b = await cluster.replica(CONFIGURATION);
  });
  afterEach(() => cluster.reset());

  /** Adds a user with an authenticator app; returns the secret, and a recovery code. */
  async function addUser(name: string): Promise<{ readonly secret: string; readonly recovery: string }> {
    await cluster.addUser(name, PASSWORD);
    const { uid = '' } = a.oauth.users.get(name) ?? {};
    const [secret, recovery] = [newTOTPSecret(), newRecoveryCode()];
    const sealed = await a.oauth.factors.secrets.seal({ name, uid }, secret);
    await a.oauth.factors.authenticators.update(
      { name, uid },
      () => ({
        passkeys: [],
        totp: { secret: sealed, addedTime: new Date().toISOString(), lastStep: 0 },
        recoveryCodes: [{ hash: hashOfCode(recovery) }],
      }),
      signal,
    );
    await until(() => b.oauth.factors.authenticators.of({ name, uid }).totp !== undefined);
    return { secret, recovery };
  }
  /** At the page of the second factor. */
  async function at(site: OAuthReplica, user: string): Promise<SiteBrowser> {
    const browser = new SiteBrowser(site);
    await browser.ask(AUTHORIZE);
    const { status, text: page } = await browser.submit({ username: user, password: PASSWORD });
    expect(status, page).to.equal(200);
    return browser;
  }
  const grant = (site: OAuthReplica, form: Record<string, string>): Promise<SiteResponse> =>
    site.ask('/oauth/token', { form: { ...CLIENT, ...form } });
  const password = (site: OAuthReplica, username: string): Promise<SiteResponse> =>
    grant(site, { grant_type: 'password', username, password: PASSWORD, scope: 'openid' });

  it('accept a code of the app, and a recovery code, once when all get it at the same time', async () => {
    const { secret, recovery } = await addUser('alice');
    for (const code of [codeOf(secret, Date.now()), recovery]) {
      const browsers = await Promise.all([a, b, a, b].map((site) => at(site, 'alice')));
      const responses = await Promise.all(browsers.map((browser) => browser.submit({ code })));
      expect(
        responses.map(({ status }) => status),
        code,
      ).to.have.members([303, 400, 400, 400]);
    }
  });

  it('count wrong codes of a user together, and a right password ends no delay', async () => {
    const delayed = { delay: 600_000 };
    const [c, d] = [
      await cluster.replica(CONFIGURATION, delayed),
      await cluster.replica(CONFIGURATION, delayed),
    ];
    const { secret, recovery } = await addUser('bob');
    const statusOf = async (site: OAuthReplica, code: string): Promise<number> =>
      (await (await at(site, 'bob')).submit({ code })).status;
    for (let count = 0; count < 5; count++) expect(await statusOf(c, '000000')).to.equal(400);
    expect(await statusOf(c, '000000')).to.equal(429);
    await until(async () => (await statusOf(d, '000000')) === 429);
    for (const site of [c, d]) expect(await statusOf(site, codeOf(secret, Date.now()))).to.equal(429);
    expect(await statusOf(d, recovery), 'cannot be guessed, so it is not delayed').to.equal(303);
  });

  it('are not bypassed by the password grant, nor by a session from before', async () => {
    await cluster.addUser('dave', PASSWORD);
    const before = await password(a, 'dave');
    expect(before.status, before.text).to.equal(200);
    const { access_token, refresh_token } = JSON.parse(before.text) as Record<string, string>;
    const { uid = '' } = a.oauth.users.get('dave') ?? {};
    const once = [{ hash: hashOfCode(newRecoveryCode()) }];
    const add = () => ({ passkeys: [], recoveryCodes: once });
    await a.oauth.factors.authenticators.update({ name: 'dave', uid }, add, signal);
    await until(() => b.oauth.factors.authenticators.of({ name: 'dave', uid }).recoveryCodes.length > 0);
    for (const site of [a, b]) {
      const refused = await password(site, 'dave');
      expect(refused.text).to.include('invalid_grant').and.include('a second factor is required');
      const headers = { authorization: `Bearer ${access_token}` };
      expect((await site.ask('/oauth/userinfo', { headers })).status).to.equal(401);
      const refreshed = await grant(site, {
        grant_type: 'refresh_token',
        refresh_token: refresh_token ?? '',
      });
      expect(refreshed.text).to.include('invalid_grant');
    }
    expect(a.audited.at(-1)).to.include({ outcome: 'second_factor_required', user: 'dave' });
  });

  it('are required when a user joins a group, at a replica with that configuration', async () => {
    const c = await cluster.replica(REQUIRED);
    await cluster.addUser('erin', PASSWORD);
    const { refresh_token = '' } = JSON.parse((await password(c, 'erin')).text) as Record<string, string>;
    const join = ['patch', 'users.iam.platform.io/erin', '--type=merge', '-p', '{"spec":{"groups":["ops"]}}'];
    await kubectl(cluster.controlPlane, ...join);
    await until(() => c.oauth.users.get('erin')?.groups.includes('ops') === true);
    expect((await grant(c, { grant_type: 'refresh_token', refresh_token })).text).to.include('invalid_grant');
    expect((await password(c, 'erin')).text).to.include('a second factor is required');
    const browser = await at(c, 'erin');
    const secret = secretOn(browser.page);
    await browser.submit({ code: codeOf(secret, Date.now()) });
    const { headers } = await browser.submit({});
    const code = new URL(headers.location ?? '').searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: VERIFIER };
    const { status, text: tokens } = await grant(c, form);
    expect(status, tokens).to.equal(200);
    const stored = JSON.parse(
      await kubectl(cluster.controlPlane, 'get', 'authenticators.iam.platform.io/erin', '-o', 'json'),
    ) as unknown;
    expect(text(recordIn(recordIn(stored, 'spec'), 'totp')['secret'])).to.not.equal('');
    expect(JSON.stringify(stored)).to.not.include(secret);
  });

  it('still work after a rotation of the keys, because the leader encrypts the secrets again', async () => {
    const { secret } = await addUser('frank');
    const { uid = '' } = a.oauth.users.get('frank') ?? {};
    const sealed = (): string => b.oauth.factors.authenticators.of({ name: 'frank', uid }).totp?.secret ?? '';
    const before = sealed();
    const kubeConfig = kubeConfigSource(await cluster.controlPlane.kubeconfigFor(SERVICE_ACCOUNT));
    const client = new ClusterConnection({ kubeConfig });
    const keys = new KeySecret(client, { namespace: NAMESPACE, name: KEYS_SECRET });
    const stored = await keys.read(signal);
    const policy = { rotationInterval: DAY_MS, publishAhead: 0, tokenLifetime: DAY_MS, macLifetime: DAY_MS };
    const next = await rotated(stored.set, Date.now(), policy, newKey, 'graceful');
    await keys.replace(stored, await rotated(next, Date.now() + 1, policy, newKey), signal);
    client.close();
    await until(() => sealed() !== before);
    const browser = await at(b, 'frank');
    expect((await browser.submit({ code: codeOf(secret, Date.now()) })).status).to.equal(303);
  });
});
