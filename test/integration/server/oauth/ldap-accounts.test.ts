// Tests sign-ins of people of a directory (OpenLDAP) at two replicas of the authorization server, on a real control plane.
import { expect } from 'chai';
import { identityName } from '../../../../apis/iam/v1beta1/identity-resource.ts';
import { recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { SUFFIX } from '../../../../hack/directory/slapd.ts';
import {
  GROUPS,
  PEOPLE,
  READER,
  requireDirectory,
  TestDirectory,
} from '../../../support/directory/directory.ts';
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import { until } from '../../../support/until.ts';
import { directoryProvider } from './company.ts';
import { claimsOf, type JSONObject, passwordGrant, REDIRECT, refresh, userInfo } from './console-tokens.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

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
    [a, b] = await cluster.replicas(await configuration());
    await cluster.addUser('alice', LOCAL_PASSWORD, { groups: ['operators'] });
  });
  after(async () => {
    await cluster?.reset();
    await directory?.[Symbol.asyncDispose]();
  });

  async function configuration(changes: object = {}): Promise<object> {
    const company = await directoryProvider(cluster, directory, { groupSearch: { base: GROUPS } });
    const grants = ['password', 'refresh_token', 'authorization_code'];
    return {
      clients: [{ id: 'console', public: true, grants, redirectURIs: [REDIRECT] }],
      identityProviders: [{ ...company, groups: { allow: ['*'] }, ...changes }],
    };
  }

  async function tokens(username: string, password?: string): Promise<JSONObject> {
    const { status, json } = await passwordGrant(a, username, password);
    expect(status, JSON.stringify(json)).to.equal(200);
    return json;
  }
  async function refused(username: string, password?: string): Promise<string> {
    const { status, json } = await passwordGrant(a, username, password);
    expect(status, JSON.stringify(json)).to.equal(400);
    return text(json['error_description']);
  }
  const identities = async (): Promise<readonly JSONObject[]> =>
    (await cluster.objects('identities')).map(({ spec }) => spec);

  it('get a user at the first sign-in, once, at whichever replica', async () => {
    const attempts = await Promise.all([
      passwordGrant(a, 'zoe'),
      passwordGrant(b, 'zoe'),
      passwordGrant(a, 'ZOE', 'zoe-password'),
      passwordGrant(b, 'zoe'),
    ]);
    for (const { status, json } of attempts) expect(status, JSON.stringify(json)).to.equal(200);
    const links = (await identities()).filter(({ user }) => user === 'zoe');
    expect(links).to.have.length(1);
    const { provider, issuer, subject, userUID } = links[0] ?? {};
    expect({ provider, issuer }).to.deep.equal({ provider: 'company', issuer: `ldap:///${SUFFIX}` });
    const { uid, spec } = await cluster.object('users/zoe');
    expect(uid).to.equal(userUID);
    expect(spec).to.deep.equal({ displayName: 'Zoe', email: 'zoe@example.com' });
    const name = identityName({ provider: 'company', issuer: text(issuer), subject: text(subject) });
    expect((await cluster.object(`identities/${name}`)).name).to.equal(name);
  });

  it('get the groups that are allowed, beside those of the user, but not the group of administrators', async () => {
    const claims = claimsOf(await tokens('zoe'));
    expect(claims['sub']).to.equal('zoe');
    expect(claims['groups']).to.deep.equal(['developers']);
    expect((await userInfo(a, await tokens('zoe'))).status).to.equal(200);
  });

  it('are recorded with the provider, and the person of a refusal', async () => {
    await refused('zoe', 'wrong');
    expect(a.audited.at(-1)).to.include({ outcome: 'wrong_password', provider: 'company', user: 'zoe' });
  });

  it('have the response of an unknown name while the password is wrong', async () => {
    const wrong = await refused('zoe', 'wrong');
    for (const [user, password] of [
      ['nobody-at-all', 'x'],
      ['alice', 'wrong'],
    ] as const) {
      const { json } = await passwordGrant(a, user, password);
      expect(json).to.deep.equal({ error: 'invalid_grant', error_description: wrong });
    }
    for (const password of ['', 'zoe-password\0']) await refused('zoe', password);
  });

  describe('with a hostile directory', () => {
    it('never take a user that exists, whatever its spelling', async () => {
      for (const uid of ['alice', 'Alice', 'ALICE', ' alice', 'alice!', 'alice_', 'ａｌｉｃｅ', 'admin']) {
        // In a new cluster, this is the first administrator.
        if (uid === 'admin') await cluster.create('User', 'users', uid, {}, [201, 409]);
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
      expect((await passwordGrant(a, 'alice', LOCAL_PASSWORD)).status).to.equal(200);
    });

    it('never match a user by the email address', async () => {
      await cluster.patch('users/alice', { email: 'alice@example.com' });
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
    await cluster.patch('users/local', { disabled: true });
    await until(() => a.oauth.users.get('local')?.disabled === true);
    expect(await refused('local')).to.contain('disabled');
    expect((await refresh(a, session)).status).to.equal(400);
    await cluster.patch('users/local', { disabled: false });
    await cluster.delete('users/local');
    await until(() => a.oauth.users.get('local') === undefined);
    expect(await refused('local')).to.contain('was deleted');
    await cluster.create('User', 'users', 'local', {});
    expect(await refused('local')).to.contain('was deleted');
  });

  describe('at a refresh', () => {
    it('get their current groups', async () => {
      await directory.person('joiner');
      const session = await tokens('joiner');
      expect(claimsOf(session)['groups']).to.deep.equal([]);
      await directory.group('joined', [`cn=joiner,${PEOPLE}`]);
      const { status, json } = await refresh(b, session);
      expect(status, JSON.stringify(json)).to.equal(200);
      expect(claimsOf(json)['groups']).to.deep.equal(['joined']);
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
        await until(async () => (await userInfo(a, other)).status === 401);
        expect((await refresh(b, other)).status).to.equal(400);
      });
    }

    it('are not signed on by a browser that they have signed in with', async () => {
      await directory.person('browser');
      const browser = new SiteBrowser(a);
      await browser.authorize();
      await browser.submit({ username: 'browser', password: 'browser-password' });
      const signOn = async (): Promise<string> => {
        const { headers } = await browser.authorize({ prompt: 'none' });
        return new URL(text(headers.location)).searchParams.get('error') ?? 'signed on';
      };
      expect(await signOn()).to.equal('signed on');
      await directory.replace(`cn=browser,${PEOPLE}`, 'pwdAccountLockedTime', '000001010000Z');
      expect(await signOn()).to.equal('login_required');
    });

    it('lose the sessions of an Identity that an administrator deletes, and cannot link it again', async () => {
      await directory.person('unlinked');
      const session = await tokens('unlinked');
      const link = (await cluster.objects('identities')).find(({ spec }) => spec['user'] === 'unlinked');
      await cluster.delete(`identities/${link?.name}`);
      await until(async () => (await userInfo(a, session)).status === 401);
    });
  });

  it('can be linked to a user by an administrator, with the person of the audit record', async () => {
    const linking = await cluster.replica(await configuration({ accounts: 'link' }));
    await directory.person('linked');
    const { status, json } = await passwordGrant(linking, 'linked');
    expect(status).to.equal(400);
    expect(json['error_description']).to.contain('not linked');
    const person = recordIn(linking.audited.at(-1), 'person');
    const identity = {
      provider: 'company',
      issuer: text(person['issuer']),
      subject: text(person['subject']),
    };
    await cluster.addUser('operator', LOCAL_PASSWORD, { groups: ['operators'] });
    const { uid } = await cluster.object('users/operator');
    const spec = { ...identity, user: 'operator', userUID: uid };
    await cluster.create('Identity', 'identities', identityName(identity), spec);
    const linked = await passwordGrant(linking, 'linked');
    expect(linked.status, JSON.stringify(linked.json)).to.equal(200);
    expect(claimsOf(linked.json)).to.deep.include({ sub: 'operator', groups: ['operators'] });
  });

  it('cannot sign in while the directory is down, but local users can, and sessions are refreshed', async () => {
    await directory.person('patient');
    const session = await tokens('patient');
    await directory.slapd.stop();
    try {
      const unavailable = await passwordGrant(a, 'patient');
      expect(unavailable.status).to.equal(503);
      const { error_description: description } = unavailable.json;
      expect(description).to.contain('Company account cannot be reached at the moment.');
      // The response does not reveal that alice has a local password.
      expect(await passwordGrant(a, 'alice', 'wrong')).to.deep.equal(unavailable);
      expect((await passwordGrant(a, 'alice', LOCAL_PASSWORD)).status).to.equal(200);
      expect(a.oauth.missing).to.deep.equal([]);
      // Anonymous callers can read it, so it has no address of the directory.
      expect(a.oauth.describeProviders()).to.equal('company: the directory does not work');
      expect((await refresh(a, session)).status).to.equal(200);
    } finally {
      await directory.slapd.start();
    }
    await a.untilProvidersWork();
  });
});
