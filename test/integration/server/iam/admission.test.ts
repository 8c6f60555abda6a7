// Tests of the ValidatingAdmissionPolicies for User, Credential, Identity and Authenticators objects, against a real kube-apiserver.
import { expect } from 'chai';
import { MAX_CHANGED_GROUPS } from '../../../../apis/iam/v1beta1/user-resource.ts';
import { until } from '../../../support/until.ts';
import { SERVER_USER } from '../registration/registered-cluster.ts';
import { credential, type IamCluster, object, patchOf, ROOT_USER, SOME_HASH, user } from './iam-cluster.ts';
import { clearedCluster } from './shared-cluster.ts';

/** A caller who can write users and credentials, and impersonate the group `dev` and the user `ada`. */
const HELPDESK = 'helpdesk';
/** A caller who can also impersonate every user and group. */
const CHIEF = 'chief';
const PASSWORD = 'credentials.iam.platform.io/ada';
const OTHER_HASH = SOME_HASH.replace('c29', 'c28');
const WRITING = {
  apiGroups: ['iam.platform.io'],
  resources: ['users', 'credentials', 'identities', 'authenticators'],
  verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'],
};

describe('the admission policies of identity', () => {
  let cluster: IamCluster;

  before(async () => {
    cluster = await clearedCluster();
    await allow(HELPDESK, [
      WRITING,
      { apiGroups: [''], resources: ['users'], resourceNames: ['ada'], verbs: ['impersonate'] },
      { apiGroups: [''], resources: ['groups'], resourceNames: ['dev'], verbs: ['impersonate'] },
    ]);
    await allow(CHIEF, [
      WRITING,
      { apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] },
    ]);
    await untilEnforced(cluster);
  });

  const allow = async (name: string, rules: readonly object[]): Promise<void> => {
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    await cluster.apply(JSON.stringify({ apiVersion, kind: 'ClusterRole', metadata: { name }, rules }));
    const binding = ['create', 'clusterrolebinding', name, `--clusterrole=${name}`, `--user=${name}`];
    await cluster.kubectl(binding);
  };

  it('allow users without groups, and with groups that the caller may impersonate', async () => {
    await cluster.write(HELPDESK, 'apply', user('ada', { groups: ['dev'] }));
    await cluster.write(HELPDESK, 'apply', user('bob'));
  });

  it('deny a group that the caller is not allowed to impersonate, by name', async () => {
    const mallory = user('mallory', { groups: ['dev', 'platform-admins'] });
    const said = await cluster.refusedWrite(HELPDESK, 'apply', mallory);
    expect(said).to.include(
      'granting or removing the group "platform-admins" requires permission to impersonate it',
    );
    expect(said).to.include('(Forbidden)');
  });

  it('deny it in updates too, with every verb', async () => {
    await cluster.write(HELPDESK, 'apply', user('bob'));
    const spec = { groups: ['platform-admins'] };
    const said = await cluster.refusal(HELPDESK, patchOf('users.iam.platform.io/bob', spec));
    expect(said).to.include('the group "platform-admins" requires permission');
    for (const verb of ['apply', 'replace'] as const) {
      expect(await cluster.refusedWrite(HELPDESK, verb, user('bob', spec))).to.include('Forbidden');
    }
  });

  it('allow other changes of a user with such a group, but not its removal', async () => {
    await cluster.write(CHIEF, 'apply', user('root', { groups: ['platform-admins'] }));
    const changed = user('root', { groups: ['dev', 'platform-admins'], email: 'a@b.c' });
    await cluster.write(HELPDESK, 'apply', changed);
    for (const groups of [[], ['dev']]) {
      expect(await cluster.refusedWrite(HELPDESK, 'replace', user('root', { groups }))).to.include(
        'granting or removing the group "platform-admins" requires permission to impersonate it',
      );
    }
    await cluster.write(HELPDESK, 'apply', user('root', { groups: ['platform-admins'] }));
    await cluster.write(CHIEF, 'replace', user('root', { groups: [] }));
  });

  it('check every changed group within the cost budget of kube-apiserver', async () => {
    const groups = Array.from({ length: MAX_CHANGED_GROUPS }, (_, index) => `team-${index}`);
    const changed = groups.slice(8).concat('a', 'b', 'c', 'd');
    await cluster.write(CHIEF, 'apply', user('many', { groups }));
    await cluster.write(CHIEF, 'apply', user('many', { groups: changed }));
    for (const tooMany of [
      user('many', { groups: groups.slice(0, 8) }),
      user('more', { groups: [...groups, 'one-more'] }),
    ]) {
      const said = await cluster.refusedWrite(CHIEF, 'apply', tooMany);
      expect(said).to.include(`at most ${MAX_CHANGED_GROUPS} groups`);
    }
    const denied = await cluster.refusedWrite(HELPDESK, 'apply', user('last', { groups }));
    expect(denied).to.include('"team-0"');
  });

  it('deny a verified address to a caller who is not allowed to impersonate all users', async () => {
    const spec = { email: 'ceo@example.com', verifiedEmail: 'ceo@example.com' };
    const problem = 'setting verifiedEmail requires permission to impersonate all users';
    expect(await cluster.refusedWrite(HELPDESK, 'apply', user('ada', spec))).to.include(problem);
    await cluster.write(CHIEF, 'apply', user('eve', { ...spec, email: 'eve@example.com' }));
    await cluster.write(HELPDESK, 'replace', user('eve', spec));
    const other = patchOf('users.iam.platform.io/eve', { verifiedEmail: 'cfo@example.com' });
    expect(await cluster.refusal(HELPDESK, other)).to.include(problem);
    await cluster.as(HELPDESK, patchOf('users.iam.platform.io/eve', { verifiedEmail: '' }));
    await cluster.as(CHIEF, patchOf('users.iam.platform.io/eve', { verifiedEmail: 'eve@example.com' }));
  });

  it('deny the password of a user that the caller is not allowed to impersonate', async () => {
    expect(await cluster.refusedWrite(HELPDESK, 'apply', credential('bob'))).to.include(
      'setting the password of "bob" requires permission to impersonate that user',
    );
  });

  it('deny a password to a caller without permission to impersonate all groups', async () => {
    expect(await cluster.refusedWrite(HELPDESK, 'apply', credential('ada'))).to.include(
      'because a password gives all groups',
    );
    await cluster.write(CHIEF, 'apply', credential('ada'));
    const patch = patchOf(PASSWORD, { passwordHash: OTHER_HASH });
    expect(await cluster.refusal(HELPDESK, patch)).to.include('because a password gives all groups');
    await cluster.as(HELPDESK, ['label', PASSWORD, 'team=a']);
  });

  it('deny the link of a person to a user that the caller is not allowed to impersonate with every group', async () => {
    const link = (name: string): string =>
      object('Identity', 'i-1', {
        provider: 'company',
        issuer: 'i',
        subject: 's',
        user: name,
        userUID: 'a-uid',
      });
    expect(await cluster.refusedWrite(HELPDESK, 'apply', link('bob'))).to.include(
      'linking a person to "bob" requires permission to impersonate that user',
    );
    expect(await cluster.refusedWrite(HELPDESK, 'apply', link('ada'))).to.include(
      'because the person gets all groups of the user',
    );
    await cluster.write(CHIEF, 'apply', link('ada'));
    expect(await cluster.refusedWrite(HELPDESK, 'apply', link('bob'))).to.include('to impersonate that user');
  });

  it('deny changes of authenticators without permission to impersonate their user and every group', async () => {
    const authenticators = (name: string, hash: string): string =>
      object('Authenticators', name, { userUID: 'a-uid', recoveryCodes: [{ hash: hash.repeat(64) }] });
    const target = 'authenticators.iam.platform.io/ada';
    expect(await cluster.refusedWrite(HELPDESK, 'apply', authenticators('bob', 'a'))).to.include(
      'changing the authenticators of "bob" requires permission to impersonate that user',
    );
    expect(await cluster.refusedWrite(HELPDESK, 'apply', authenticators('ada', 'a'))).to.include(
      'because a passkey gives all groups of its user',
    );
    await cluster.write(CHIEF, 'apply', authenticators('ada', 'a'));
    expect(await cluster.refusedWrite(HELPDESK, 'apply', authenticators('ada', 'b'))).to.include(
      '(Forbidden)',
    );
    for (const deletion of [[target], ['authenticators.iam.platform.io', '--all']]) {
      expect(await cluster.refusal(HELPDESK, ['delete', ...deletion])).to.include(
        'to impersonate every group',
      );
    }
    const ownerReferences = [
      { apiVersion: 'iam.platform.io/v1beta1', kind: 'User', name: 'ada', uid: 'gone' },
    ];
    const disown = JSON.stringify({ metadata: { ownerReferences } });
    expect(
      await cluster.refusal(HELPDESK, ['patch', target, '--type=merge', '-p', disown]),
      'a deletion by the garbage collector',
    ).to.include('to impersonate every group');
    await cluster.as(HELPDESK, ['label', target, 'team=a']);
    await cluster.as(CHIEF, ['delete', target]);
  });

  it('let the garbage collector delete the authenticators of a deleted user', async () => {
    const collector = 'system:serviceaccount:kube-system:generic-garbage-collector';
    const target = 'authenticators.iam.platform.io/ada';
    await cluster.write(CHIEF, 'apply', object('Authenticators', 'ada', { userUID: 'a-uid' }));
    await cluster.as(ROOT_USER, ['--as', collector, 'delete', target]);
  });

  it('reject a new hash under the same changedTime', async () => {
    await cluster.write(CHIEF, 'apply', credential('ada'));
    const passwordHash = OTHER_HASH;
    // The second one has the same time in another time zone.
    for (const spec of [{ passwordHash }, { passwordHash, changedTime: '2026-01-02T04:04:05.678+01:00' }]) {
      const said = await cluster.refusal(CHIEF, patchOf(PASSWORD, spec));
      expect(said).to.include('a new passwordHash requires a new changedTime');
    }
    await cluster.as(CHIEF, patchOf(PASSWORD, { mustChange: true }));
    const changedTime = '2026-01-02T03:04:06Z';
    await cluster.as(CHIEF, patchOf(PASSWORD, { passwordHash, changedTime }));
    // At a sign-in, the server replaces a weak hash by a strong hash of the same password.
    const renewed = credential('ada', { passwordHash: SOME_HASH, changedTime });
    await cluster.as(ROOT_USER, ['--as', SERVER_USER.name, 'replace', '-f', '-'], renewed);
  });

  it('exempt the server itself; administrators are bound to cluster-admin', async () => {
    const asAdmin = ['--as=admin', '--as-group=platform-admins'];
    expect((await cluster.kubectl(['auth', 'can-i', '*', '*', ...asAdmin])).trim()).to.equal('yes');
    const create = ['--as', SERVER_USER.name, 'create', '-f', '-'];
    await cluster.as(ROOT_USER, create, user('admin', { groups: ['platform-admins'] }));
  });
});

/** A policy takes effect shortly after its creation. */
async function untilEnforced(cluster: IamCluster): Promise<void> {
  const create = ['create', '--dry-run=server', '-f', '-'];
  for (const probe of [user('probe', { groups: ['platform-admins'] }), credential('probe')]) {
    await until(async () =>
      (await cluster.as(HELPDESK, create, probe).catch(String)).includes('ValidatingAdmissionPolicy'),
    );
  }
}
