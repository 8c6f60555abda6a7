// Tests sign-ins of people of a directory (OpenLDAP) at two replicas of the authorization server, on a real control plane.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { identityName } from '../../../../apis/iam/v1beta1/identity-resource.ts';
import { array, record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { SUFFIX } from '../../../../hack/directory/slapd.ts';
import {
  GROUPS,
  PEOPLE,
  READER,
  requireDirectory,
  TestDirectory,
} from '../../../support/directory/directory.ts';
import { authorizationQuery } from '../../../support/oauth/authorization-query.ts';
import { until } from '../../../support/until.ts';
import { claimsOf, type JSONObject } from './console-tokens.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const CLIENT = { client_id: 'platform', client_secret: 'platform' };
const API = '/apis/iam.platform.io/v1beta1';
const REDIRECT = 'https://console.example.com/callback';
const LOCAL_PASSWORD = 'correct horse battery staple';

describe('people of a directory', () => {
  let cluster: OAuthCluster;
  let directory: TestDirectory;
  let a: OAuthReplica;
  let b: OAuthReplica;

  before(async function () {
    await requireDirectory(this);
    cluster = await sharedCluster();
    directory = await TestDirectory.start();
    await directory.person('zoe', { displayName: 'Zoe', mail: 'zoe@example.com' });
    await directory.group('developers', [`cn=zoe,${PEOPLE}`]);
    await directory.group('platform-admins', [`cn=zoe,${PEOPLE}`]);
    await cluster.addProviderSecret({ bindPassword: READER.password });
    a = await cluster.replica(await configuration());
    b = await cluster.replica(await configuration());
    await cluster.addUser('alice', LOCAL_PASSWORD, { groups: ['operators'] });
    for (const replica of [a, b]) await until(() => replica.oauth.describeProviders() === 'company: ok');
  });
  after(async () => {
    await cluster?.reset();
    await directory?.[Symbol.asyncDispose]();
  });

  async function configuration(changes = ''): Promise<string> {
    const caFile = join(directory.folder, 'ca.crt');
    const secretFile = join(directory.folder, 'client-secret');
    await writeFile(caFile, directory.ca);
    await writeFile(secretFile, 'platform');
    return `
  clients:
    - {id: platform, secretFiles: [${secretFile}], grants: [password, refresh_token]}
    - {id: console, public: true, redirectURIs: ["${REDIRECT}"]}
  identityProviders:
    - name: company
      displayName: Company account
      groups: {allow: ["*"]}${changes}
      ldap:
        hosts: ["localhost:${directory.slapd.ldapsPort}"]
        caFile: ${caFile}
        bindDN: ${READER.dn}
        userSearch: {base: "${PEOPLE}"}
        groupSearch: {base: "${GROUPS}"}
`;
  }

  const json = (body: string): JSONObject => JSON.parse(body) as JSONObject;
  const signIn = (at: OAuthReplica, username: string, password = `${username}-password`) =>
    at.ask('/oauth/token', {
      form: { grant_type: 'password', username, password, scope: 'openid', ...CLIENT },
    });
  const refresh = (at: OAuthReplica, { refresh_token }: JSONObject) =>
    at.ask('/oauth/token', {
      form: { grant_type: 'refresh_token', refresh_token: text(refresh_token), ...CLIENT },
    });
  const userInfo = ({ access_token }: JSONObject) =>
    a.ask('/oauth/userinfo', { headers: { authorization: `Bearer ${text(access_token)}` } });

  async function tokens(username: string, password?: string): Promise<JSONObject> {
    const { status, text: body } = await signIn(a, username, password);
    expect(status, body).to.equal(200);
    return json(body);
  }
  async function refused(username: string, password?: string): Promise<string> {
    const { status, text: body } = await signIn(a, username, password);
    expect(status, body).to.equal(400);
    return text(json(body)['error_description']);
  }
  const object = async (path: string): Promise<JSONObject> =>
    record(await cluster.controlPlane.client.get(`${API}/${path}`));
  async function identities(): Promise<readonly JSONObject[]> {
    return array((await object('identities'))['items']).map((item) => recordIn(item, 'spec'));
  }
  const create = (plural: string, body: object) =>
    cluster.controlPlane.client.expect(`${API}/${plural}`, { method: 'POST', body }, [201]);

  it('get a user at the first sign-in, once, at whichever replica', async () => {
    const attempts = await Promise.all([
      signIn(a, 'zoe'),
      signIn(b, 'zoe'),
      signIn(a, 'ZOE', 'zoe-password'),
      signIn(b, 'zoe'),
    ]);
    for (const { status, text: body } of attempts) expect(status, body).to.equal(200);
    const links = (await identities()).filter(({ user }) => user === 'zoe');
    expect(links).to.have.length(1);
    const { provider, issuer, subject, userUID } = links[0] ?? {};
    expect({ provider, issuer }).to.deep.equal({ provider: 'company', issuer: `ldap:///${SUFFIX}` });
    const user = await object('users/zoe');
    expect(recordIn(user, 'metadata')['uid']).to.equal(userUID);
    expect(user['spec']).to.deep.equal({ displayName: 'Zoe', email: 'zoe@example.com' });
    const name = identityName({ provider: 'company', issuer: text(issuer), subject: text(subject) });
    expect(recordIn(await object(`identities/${name}`), 'metadata')['name']).to.equal(name);
  });

  it('get the groups that are allowed, beside those of the user, but not the group of administrators', async () => {
    const claims = claimsOf(await tokens('zoe'));
    expect(claims['sub']).to.equal('zoe');
    expect(claims['groups']).to.deep.equal(['developers']);
    const { status, text: body } = await userInfo(await tokens('zoe'));
    expect(status, body).to.equal(200);
  });

  it('are recorded with the provider, and the person of a refusal', async () => {
    await signIn(a, 'zoe', 'wrong');
    const { outcome, provider, user } = a.audited.at(-1) ?? {};
    expect({ outcome, provider, user }).to.deep.equal({
      outcome: 'wrong_password',
      provider: 'company',
      user: 'zoe',
    });
  });

  it('have the response of an unknown name while the password is wrong', async () => {
    const wrong = await refused('zoe', 'wrong');
    for (const [user, password] of [
      ['nobody-at-all', 'x'],
      ['alice', 'wrong'],
      ['zoe', ''],
      ['zoe', 'zoe-password\0'],
    ] as const) {
      const { status, text: body } = await signIn(a, user, password);
      const { error, error_description } = json(body);
      if (password === '' || password.includes('\0')) expect(status, body).to.equal(400);
      else
        expect({ error, error_description }).to.deep.equal({
          error: 'invalid_grant',
          error_description: wrong,
        });
    }
  });

  describe('with a hostile directory', () => {
    it('never take a user that exists, whatever its spelling', async () => {
      for (const uid of ['alice', 'Alice', 'ALICE', ' alice', 'alice!', 'alice_', 'ａｌｉｃｅ', 'admin']) {
        if (uid === 'admin') {
          const body = {
            apiVersion: 'iam.platform.io/v1beta1',
            kind: 'User',
            metadata: { name: uid },
            spec: {},
          };
          // In a new cluster, this is the first administrator.
          await cluster.controlPlane.client.expect(`${API}/users`, { method: 'POST', body }, [201, 409]);
        }
        const login = `hostile-${Buffer.from(uid).toString('hex')}`;
        await directory.person(login, {
          uid: [login],
          cn: login,
          sn: login,
          userPassword: 'hostile-password',
        });
        await directory.replace(`cn=${login},${PEOPLE}`, 'uid', uid);
        // The name of the local user is only checked locally.
        const description = await refused(uid, 'hostile-password');
        expect(description, uid).to.match(/password is wrong|belongs to another user|No valid user name/);
        await directory.remove(`cn=${login},${PEOPLE}`);
      }
      expect((await identities()).filter(({ user }) => user === 'alice' || user === 'admin')).to.deep.equal(
        [],
      );
      expect((await signIn(a, 'alice', LOCAL_PASSWORD)).status).to.equal(200);
    });

    it('never match a user by the email address', async () => {
      await cluster.controlPlane.client.expect(
        `${API}/users/alice`,
        {
          method: 'PATCH',
          headers: { 'content-type': 'application/merge-patch+json' },
          body: { spec: { email: 'alice@example.com' } },
        },
        [200],
      );
      await directory.person('mallory', { mail: 'alice@example.com', displayName: 'alice' });
      expect(claimsOf(await tokens('mallory'))['sub']).to.equal('mallory');
    });

    it('derive names by one rule, and reject two people with one name', async () => {
      await directory.person('Jane_Doe');
      expect(claimsOf(await tokens('Jane_Doe'))['sub']).to.equal('jane-doe');
      await directory.person('jane-doe');
      expect(await refused('jane-doe')).to.contain('belongs to another user');
      for (const uid of ['ümlaut', '...', 'x'.repeat(64), 'ks-apiserver-check']) {
        await directory.person(uid);
        expect(await refused(uid), uid).to.contain('No valid user name');
      }
    });

    it('give another person with the same name no access to the user', async () => {
      await directory.person('reused');
      await tokens('reused');
      await directory.remove(`cn=reused,${PEOPLE}`);
      await directory.person('reused');
      expect(await refused('reused')).to.contain('belongs to another user');
    });

    it('pass no reserved, hidden or endless groups', async () => {
      await directory.person('grouped');
      const member = `cn=grouped,${PEOPLE}`;
      const names = ['system:masters', 'a:b', 'platform-admins-too', 'x'.repeat(129), 'Domain Users'];
      for (const name of names) await directory.group(name, [member]);
      expect(claimsOf(await tokens('grouped'))['groups']).to.deep.equal([
        'Domain Users',
        'platform-admins-too',
      ]);
      for (let index = 0; index < 101; index++) await directory.group(`many-${index}`, [member]);
      expect(await refused('grouped')).to.contain('too many groups');
    });
  });

  it('are locked out by the local user: disabled, deleted or recreated', async () => {
    await directory.person('local');
    const session = await tokens('local');
    const disabled = (value: boolean) =>
      cluster.controlPlane.client.expect(
        `${API}/users/local`,
        {
          method: 'PATCH',
          headers: { 'content-type': 'application/merge-patch+json' },
          body: { spec: { disabled: value } },
        },
        [200],
      );
    await disabled(true);
    await until(() => a.oauth.users.get('local')?.disabled === true);
    expect(await refused('local')).to.contain('disabled');
    expect((await refresh(a, session)).status).to.equal(400);
    await disabled(false);
    await cluster.controlPlane.client.expect(`${API}/users/local`, { method: 'DELETE' }, [200]);
    await until(() => a.oauth.users.get('local') === undefined);
    expect(await refused('local')).to.contain('was deleted');
    await create('users', {
      apiVersion: 'iam.platform.io/v1beta1',
      kind: 'User',
      metadata: { name: 'local' },
      spec: {},
    });
    expect(await refused('local')).to.contain('was deleted');
  });

  describe('at a refresh', () => {
    it('get their current groups', async () => {
      await directory.person('joiner');
      const session = await tokens('joiner');
      expect(claimsOf(session)['groups']).to.deep.equal([]);
      await directory.group('joined', [`cn=joiner,${PEOPLE}`]);
      const { status, text: body } = await refresh(b, session);
      expect(status, body).to.equal(200);
      expect(claimsOf(json(body))['groups']).to.deep.equal(['joined']);
    });

    for (const [how, leave] of [
      ['disabled', (dn: string) => directory.replace(dn, 'pwdAccountLockedTime', '000001010000Z')],
      ['deleted', (dn: string) => directory.remove(dn)],
      ['with a new password', (dn: string) => directory.replace(dn, 'userPassword', 'another')],
    ] as const) {
      it(`lose all sessions when they are ${how}`, async () => {
        const user = `leaver-${how.split(' ')[0]}`;
        await directory.person(user);
        const [one, other] = [await tokens(user), await tokens(user)];
        await leave(`cn=${user},${PEOPLE}`);
        expect((await refresh(a, one)).status).to.equal(400);
        await until(async () => (await userInfo(other)).status === 401);
        expect((await refresh(b, other)).status).to.equal(400);
      });
    }

    it('are not signed on by a browser that they have signed in with', async () => {
      await directory.person('browser');
      const query = authorizationQuery('v'.repeat(43), { client_id: 'console', redirect_uri: REDIRECT });
      const page = await a.ask(`/oauth/authorize?${query}`);
      const ticket = /name="ticket" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
      const form = { ticket, username: 'browser', password: 'browser-password' };
      const cookie = page.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
      const signedIn = await a.ask('/oauth/sign-in', { form, headers: { cookie } });
      const session = signedIn.headers['set-cookie']?.find((each) => each.startsWith('__Host-session='));
      const signOn = async (): Promise<string> => {
        const headers = { cookie: session?.split(';')[0] ?? '' };
        const { headers: sent } = await a.ask(`/oauth/authorize?${query}&prompt=none`, { headers });
        return new URL(sent.location ?? '').searchParams.get('error') ?? 'signed on';
      };
      expect(await signOn()).to.equal('signed on');
      await directory.replace(`cn=browser,${PEOPLE}`, 'pwdAccountLockedTime', '000001010000Z');
      expect(await signOn()).to.equal('login_required');
    });

    it('lose the sessions of an Identity that an administrator deletes, and cannot link it again', async () => {
      await directory.person('unlinked');
      const session = await tokens('unlinked');
      await cluster.controlPlane.client.expect(`${API}/users/unlinked`, { method: 'GET' }, [200]);
      const link = (await identities()).find(({ user }) => user === 'unlinked');
      const { issuer, subject } = link ?? {};
      const name = identityName({ provider: 'company', issuer: text(issuer), subject: text(subject) });
      await cluster.controlPlane.client.expect(`${API}/identities/${name}`, { method: 'DELETE' }, [200]);
      await until(async () => (await userInfo(session)).status === 401);
    });
  });

  it('can be linked to a user by an administrator, with the person of the audit record', async () => {
    const linking = await cluster.replica(await configuration('\n      accounts: link'));
    await until(() => linking.oauth.describeProviders() === 'company: ok');
    await directory.person('linked');
    const { status, text: body } = await signIn(linking, 'linked');
    expect(status).to.equal(400);
    expect(body).to.contain('not linked');
    const person = recordIn(linking.audited.at(-1), 'person');
    const identity = {
      provider: 'company',
      issuer: text(person['issuer']),
      subject: text(person['subject']),
    };
    await cluster.addUser('operator', LOCAL_PASSWORD, { groups: ['operators'] });
    const { uid } = recordIn(await object('users/operator'), 'metadata');
    await create('identities', {
      apiVersion: 'iam.platform.io/v1beta1',
      kind: 'Identity',
      metadata: { name: identityName(identity) },
      spec: { ...identity, user: 'operator', userUID: uid },
    });
    const linked = await signIn(linking, 'linked');
    expect(linked.status, linked.text).to.equal(200);
    expect(claimsOf(json(linked.text))['sub']).to.equal('operator');
    expect(claimsOf(json(linked.text))['groups']).to.deep.equal(['operators']);
  });

  it('cannot sign in while the directory is down, but local users can, and sessions are refreshed', async () => {
    await directory.person('patient');
    const session = await tokens('patient');
    await directory.slapd.stop();
    try {
      const { status, text: body } = await signIn(a, 'patient');
      expect(status, body).to.equal(503);
      expect(body).to.contain('Company account cannot be reached at the moment.');
      // The response does not reveal that alice has a local password.
      const wrong = await signIn(a, 'alice', 'wrong');
      expect([wrong.status, wrong.text]).to.deep.equal([status, body]);
      expect((await signIn(a, 'alice', LOCAL_PASSWORD)).status).to.equal(200);
      expect(a.oauth.missing).to.deep.equal([]);
      // Anonymous callers can read it, so it has no address of the directory.
      expect(a.oauth.describeProviders()).to.equal('company: the directory does not work');
      expect((await refresh(a, session)).status).to.equal(200);
    } finally {
      await directory.slapd.start();
    }
    await until(() => a.oauth.describeProviders() === 'company: ok');
  });
});
