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
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import { until } from '../../../support/until.ts';
import { exchange, passwordGrant, REDIRECT, refresh, userInfo } from './console-tokens.ts';
import { NAMESPACE, type OAuthCluster, type OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const PASSWORD = 'correct horse battery staple';
const GRANTS = ['password', 'refresh_token', 'authorization_code'];
const CONFIGURATION = {
  clients: [{ id: 'console', public: true, grants: GRANTS, redirectURIs: [REDIRECT] }],
};
const REQUIRED = { ...CONFIGURATION, secondFactor: { groups: ['ops'], enrolmentPeriod: '1h' } };
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
    [a, b] = await cluster.replicas(CONFIGURATION);
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
    await browser.authorize();
    const { status, text: page } = await browser.submit({ username: user, password: PASSWORD });
    expect(status, page).to.equal(200);
    return browser;
  }
  const grant = (site: OAuthReplica, username: string) => passwordGrant(site, username, PASSWORD);

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

  it('count wrong codes of a user at all replicas together, and a right password ends no delay', async () => {
    const delayed = { delay: 600_000 };
    const [c, d] = [
      await cluster.replica(CONFIGURATION, delayed),
      await cluster.replica(CONFIGURATION, delayed),
    ];
    const { secret, recovery } = await addUser('bob');
    const statusOf = async (site: OAuthReplica, code: string): Promise<number> =>
      (await (await at(site, 'bob')).submit({ code })).status;
    const statuses: number[] = [];
    for (const site of [c, d, c, d, c, d, c]) statuses.push(await statusOf(site, '000000'));
    expect(statuses).to.deep.equal([400, 400, 400, 400, 400, 429, 429]);
    for (const site of [c, d]) expect(await statusOf(site, codeOf(secret, Date.now()))).to.equal(429);
    expect(await statusOf(d, recovery), 'cannot be guessed, so it is not delayed').to.equal(303);
  });

  it('are not delayed by sign-ins of others, whatever they type as the user name', async () => {
    const site = await cluster.replica(CONFIGURATION, { delay: 600_000 });
    const { secret, recovery } = await addUser('jane');
    const { json } = await passwordGrant(site, 'jane', 'not the password');
    expect(json['error'], JSON.stringify(json)).to.equal('invalid_grant');
    for (const name of ['recovery code of jane at 127.0.0.1', 'jane at 127.0.0.1', 'factor-jane']) {
      for (let count = 0; count < 5; count++) await passwordGrant(site, name, 'not the password');
      expect((await passwordGrant(site, name, 'not the password')).status, name).to.equal(429);
    }
    for (const code of [recovery, codeOf(secret, Date.now())])
      expect((await (await at(site, 'jane')).submit({ code })).status, code).to.equal(303);
  });

  it('are as few guesses when all replicas get them at the same moment', async () => {
    const c = await cluster.replica(CONFIGURATION);
    for (const user of ['gina', 'hugo', 'ines']) {
      await addUser(user);
      const sites = Array.from({ length: 4 }, () => [a, b, c]).flat();
      const browsers = await Promise.all(sites.map((site) => at(site, user)));
      const responses = await Promise.all(browsers.map((browser) => browser.submit({ code: '000000' })));
      const statuses = responses.map(({ status }) => status);
      expect(statuses, user).to.have.members([...Array(5).fill(400), ...Array(7).fill(429)]);
    }
  });

  it('are not bypassed by the password grant, nor by a session from before', async () => {
    await cluster.addUser('dave', PASSWORD);
    const { status, json: before } = await grant(a, 'dave');
    expect(status, JSON.stringify(before)).to.equal(200);
    const { uid = '' } = a.oauth.users.get('dave') ?? {};
    const once = [{ hash: hashOfCode(newRecoveryCode()) }];
    const add = () => ({ passkeys: [], recoveryCodes: once });
    await a.oauth.factors.authenticators.update({ name: 'dave', uid }, add, signal);
    await until(() => b.oauth.factors.authenticators.of({ name: 'dave', uid }).recoveryCodes.length > 0);
    for (const site of [a, b]) {
      const { json } = await grant(site, 'dave');
      expect(json['error']).to.equal('invalid_grant');
      expect(json['error_description']).to.include('a second factor is required');
      expect((await userInfo(site, before)).status).to.equal(401);
      expect((await refresh(site, before)).json['error']).to.equal('invalid_grant');
    }
    expect(a.audited.at(-1)).to.include({ outcome: 'second_factor_required', user: 'dave' });
  });

  it('are required when a user joins a group, at a replica with that configuration', async () => {
    const c = await cluster.replica(REQUIRED);
    await cluster.addUser('erin', PASSWORD);
    const { json: before } = await grant(c, 'erin');
    await cluster.patch('users/erin', { groups: ['ops'] });
    await until(() => c.oauth.users.get('erin')?.groups.includes('ops') === true);
    expect((await refresh(c, before)).json['error']).to.equal('invalid_grant');
    expect((await grant(c, 'erin')).json['error_description']).to.include('a second factor is required');
    const browser = await at(c, 'erin');
    const secret = secretOn(browser.page);
    await browser.submit({ code: codeOf(secret, Date.now()) });
    await exchange(c, await browser.submit({}));
    const { spec } = await cluster.object('authenticators/erin');
    expect(text(recordIn(spec, 'totp')['secret'])).to.not.equal('');
    expect(JSON.stringify(spec)).to.not.include(secret);
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
