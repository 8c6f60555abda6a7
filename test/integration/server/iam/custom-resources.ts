// Tests of the custom resources of the IAM API against a real kube-apiserver.
import { expect } from 'chai';
import { credential, type IamCluster, ROOT_USER, session, user } from './iam-cluster.ts';

export function describeCustomResources(subject: () => IamCluster): void {
  describe('the custom resources of identity in a real kube-apiserver', () => {
    let cluster: IamCluster;

    before(() => {
      cluster = subject();
    });

    const row = async (plural: string, wide = false): Promise<string[]> => {
      const table = await cluster.kubectl([
        'get',
        `${plural}.iam.platform.io`,
        ...(wide ? ['-o', 'wide'] : []),
      ]);
      return table.split('\n').map((line) => line.replaceAll(/ {2,}/g, '|').replace(/\|$/, ''));
    };

    it('have printer columns for users', async () => {
      const spec = {
        email: 'ada@example.com',
        displayName: 'Ada L.',
        groups: ['dev', 'ops'],
        disabled: true,
      };
      await cluster.write(ROOT_USER, 'create', user('ada', spec));
      const [heading, line] = await row('users');
      expect(heading).to.equal('NAME|EMAIL|GROUPS|DISABLED|AGE');
      expect(line).to.match(/^ada\|ada@example\.com\|\["dev","ops"\]\|true\|\d+s$/);
    });

    it('have printer columns for credentials, without the hash', async () => {
      await cluster.write(ROOT_USER, 'create', credential('ada', { mustChange: true }));
      const table = (await row('credentials', true)).join('\n');
      expect(table).to.match(/^NAME\|MUST-CHANGE\|CHANGED\|AGE\nada\|true\|\d+d\|\d+s/);
      expect(table).not.to.include('argon2');
    });

    it('have printer columns and field selectors for sessions', async () => {
      await cluster.write(ROOT_USER, 'create', session('s-aaaaaaaaaaaaaaaaaaaa'));
      await cluster.write(ROOT_USER, 'create', session('s-bbbbbbbbbbbbbbbbbbbb', { user: 'bob' }));
      const [heading, line] = await row('sessions');
      expect(heading).to.equal('NAME|USER|CLIENT|SOURCE|AGE|LAST-USED');
      expect(line).to.match(/^s-a+\|ada\|platform\|192\.0\.2\.7\|\d+s\|\d+d$/);
      const found = await cluster.kubectl([
        'get',
        'sessions.iam.platform.io',
        '--field-selector=spec.user=bob',
        '-o',
        'name',
      ]);
      expect(found).to.equal('session.iam.platform.io/s-bbbbbbbbbbbbbbbbbbbb\n');
    });

    it('ignore the status in a write of the spec', async () => {
      const withStatus = JSON.stringify({
        ...(JSON.parse(user('eve')) as object),
        status: { lastLoginTime: '2026-01-02T03:04:05Z' },
      });
      await cluster.write(ROOT_USER, 'create', withStatus);
      expect(
        await cluster.kubectl(['get', 'users.iam.platform.io/eve', '-o', 'jsonpath={.status}']),
      ).to.equal('');
    });

    const invalid: readonly (readonly [what: string, object: string, message: RegExp])[] = [
      ['a group of Kubernetes', user('x', { groups: ['system:masters'] }), /spec\.groups\[0\].*without ":"/],
      ['a group with a colon', user('x', { groups: ['a:b'] }), /without ":"/],
      ['a group with white space', user('x', { groups: ['a b'] }), /white space/],
      [
        'an empty group name, once',
        user('x', { groups: [''] }),
        /^(?!.*spec\.groups.*spec\.groups).*spec\.groups\[0\]/s,
      ],
      ['a group twice', user('x', { groups: ['a', 'a'] }), /Duplicate value/],
      ['65 groups', user('x', { groups: Array.from({ length: 65 }, (_, i) => `g${i}`) }), /at most 64/],
      ['an invalid email address', user('x', { email: 'nobody' }), /an address such as name@example\.com/],
      ['a display name of two lines', user('x', { displayName: 'a\nb' }), /one line of text/],
      ['a user name of Kubernetes', user('system:admin'), /metadata\.name/],
      ['a user name with a colon', user('a:b'), /metadata\.name/],
      ['a very long name', user('x'.repeat(64)), /at most 63 characters/],
      ['an unknown field', user('x', { password: 'secret' }), /unknown field "spec\.password"/],
      [
        'a user without a spec',
        JSON.stringify({ ...(JSON.parse(user('x')) as object), spec: undefined }),
        /spec: Required/,
      ],
      [
        'a password that is not a hash',
        credential('x', { passwordHash: 'secret' }),
        /argon2id as a PHC string, or bcrypt/,
      ],
      ['an invalid time', credential('x', { changedTime: 'yesterday' }), /date-time/],
      ['a credential without a user', credential('x', { userUID: '' }), /userUID/],
      ['an invalid digest', session('s-x', { refreshHash: 'abc' }), /SHA-256 in lower-case/],
    ];
    for (const [what, object, message] of invalid) {
      it(`reject, with a reason: ${what}`, async () => {
        expect(await cluster.refusedWrite(ROOT_USER, 'create', object)).to.match(message);
      });
    }

    it('are in no aggregated role', async () => {
      for (const role of ['view', 'edit', 'admin']) {
        const rules = await cluster.kubectl(['get', 'clusterrole', role, '-o', 'json']);
        expect(rules).not.to.include('iam.platform.io');
      }
    });
  });
}
