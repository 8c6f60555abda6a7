// Tests of the ValidatingAdmissionPolicies for User and Credential objects, against a real kube-apiserver.
import { expect } from 'chai';
import { MAX_CHANGED_GROUPS } from '../../../../hack/generate/admission.ts';
import { SERVER_USER } from '../registration/registered-cluster.ts';
import { credential, type IamCluster, ROOT_USER, SOME_HASH, user } from './iam-cluster.ts';

/** A caller who can write users and credentials, and impersonate the group `dev` and the user `ada`. */
const HELPDESK = 'helpdesk';
/** A caller who can also impersonate every user and group. */
const CHIEF = 'chief';
const WRITING = {
  apiGroups: ['iam.platform.io'],
  resources: ['users', 'credentials'],
  verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'],
};

export function describeAdmission(subject: () => IamCluster): void {
  describe('the admission policies of identity', () => {
    let cluster: IamCluster;

    before(async () => {
      cluster = subject();
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
      const role = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name },
        rules,
      };
      await cluster.kubectl(['create', '-f', '-'], JSON.stringify(role));
      await cluster.kubectl([
        'create',
        'clusterrolebinding',
        name,
        `--clusterrole=${name}`,
        `--user=${name}`,
      ]);
    };

    it('allow users without groups, and with groups that the caller may impersonate', async () => {
      await cluster.write(HELPDESK, 'apply', user('ada', { groups: ['dev'] }));
      await cluster.write(HELPDESK, 'apply', user('bob'));
    });

    it('deny a group that the caller is not allowed to impersonate, by name', async () => {
      const said = await cluster.refusedWrite(
        HELPDESK,
        'apply',
        user('mallory', { groups: ['dev', 'platform-admins'] }),
      );
      expect(said).to.include(
        'granting or removing the group "platform-admins" requires permission to impersonate it',
      );
      expect(said).to.include('(Forbidden)');
    });

    it('deny it in updates too, with every verb', async () => {
      await cluster.write(HELPDESK, 'apply', user('bob'));
      const patch = ['patch', 'users.iam.platform.io/bob', '--type=merge'];
      const said = await cluster.refusal(HELPDESK, [
        ...patch,
        '-p',
        '{"spec":{"groups":["platform-admins"]}}',
      ]);
      expect(said).to.include('the group "platform-admins" requires permission');
      for (const verb of ['apply', 'replace'] as const) {
        expect(
          await cluster.refusedWrite(HELPDESK, verb, user('bob', { groups: ['platform-admins'] })),
        ).to.include('Forbidden');
      }
    });

    it('allow other changes of a user with such a group, but not its removal', async () => {
      await cluster.write(CHIEF, 'apply', user('root', { groups: ['platform-admins'] }));
      await cluster.write(
        HELPDESK,
        'apply',
        user('root', { groups: ['dev', 'platform-admins'], email: 'a@b.c' }),
      );
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
      await cluster.write(CHIEF, 'apply', user('many', { groups }));
      await cluster.write(
        CHIEF,
        'apply',
        user('many', { groups: groups.slice(8).concat('a', 'b', 'c', 'd') }),
      );
      expect(
        await cluster.refusedWrite(CHIEF, 'apply', user('many', { groups: groups.slice(0, 8) })),
      ).to.include(`at most ${MAX_CHANGED_GROUPS} groups`);
      expect(
        await cluster.refusedWrite(CHIEF, 'apply', user('more', { groups: [...groups, 'one-more'] })),
      ).to.include(`at most ${MAX_CHANGED_GROUPS} groups`);
      const last = [
        ...Array.from({ length: MAX_CHANGED_GROUPS - 1 }, () => 'dev').map((name, index) => name + index),
        'x',
      ];
      expect(await cluster.refusedWrite(HELPDESK, 'apply', user('last', { groups: last }))).to.include(
        '"dev0"',
      );
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
      const patch = JSON.stringify({ spec: { passwordHash: SOME_HASH.replace('c29', 'c28') } });
      const args = ['patch', 'credentials.iam.platform.io/ada', '--type=merge', '-p', patch];
      expect(await cluster.refusal(HELPDESK, args)).to.include('because a password gives all groups');
      await cluster.as(HELPDESK, ['label', 'credentials.iam.platform.io/ada', 'team=a']);
    });

    it('reject a new hash under the same changedTime', async () => {
      await cluster.write(CHIEF, 'apply', credential('ada'));
      const patch = (spec: object): string[] => [
        'patch',
        'credentials.iam.platform.io/ada',
        '--type=merge',
        '-p',
        JSON.stringify({ spec }),
      ];
      const passwordHash = SOME_HASH.replace('c29', 'c28');
      expect(await cluster.refusal(CHIEF, patch({ passwordHash }))).to.include(
        'a new passwordHash requires a new changedTime',
      );
      const sameTime = '2026-01-02T04:04:05.678+01:00';
      expect(await cluster.refusal(CHIEF, patch({ passwordHash, changedTime: sameTime }))).to.include(
        'changedTime',
      );
      await cluster.as(CHIEF, patch({ mustChange: true }));
      const changedTime = '2026-01-02T03:04:06Z';
      await cluster.as(CHIEF, patch({ passwordHash, changedTime }));
      // At a sign-in, the server replaces a weak hash by a strong hash of the same password.
      const renewed = credential('ada', { passwordHash: SOME_HASH, changedTime });
      await cluster.as(ROOT_USER, ['--as', SERVER_USER.name, 'replace', '-f', '-'], renewed);
    });

    it('do not replace RBAC', async () => {
      expect(await cluster.refusedWrite('nobody', 'apply', user('x'))).to.include('cannot');
      expect(await cluster.refusal('nobody', ['get', 'credentials.iam.platform.io'])).to.include(
        'cannot list',
      );
    });

    it('exempt the server itself; administrators are bound to cluster-admin', async () => {
      const can = await cluster.kubectl([
        'auth',
        'can-i',
        '*',
        '*',
        '--as=admin',
        '--as-group=platform-admins',
      ]);
      expect(can.trim()).to.equal('yes');
      await cluster.as(
        ROOT_USER,
        ['--as', SERVER_USER.name, 'create', '-f', '-'],
        user('admin', { groups: ['platform-admins'] }),
      );
    });
  });
}

/** A policy takes effect shortly after its creation. */
async function untilEnforced(cluster: IamCluster): Promise<void> {
  const deadline = performance.now() + 30_000;
  const tries = [user('probe', { groups: ['platform-admins'] }), credential('probe')];
  for (const probe of tries) {
    for (;;) {
      const answer = await cluster
        .as(HELPDESK, ['create', '--dry-run=server', '-f', '-'], probe)
        .catch(String);
      if (answer.includes('ValidatingAdmissionPolicy')) break;
      if (performance.now() > deadline) throw new Error(`the policy does not take effect: ${answer}`);
    }
  }
}
