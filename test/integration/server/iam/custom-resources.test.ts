// Tests of the custom resources of the IAM API against a real kube-apiserver.
import { expect } from 'chai';
import { credential, type IamCluster, ROOT_USER, session, user } from './iam-cluster.ts';
import { clearedCluster } from './shared-cluster.ts';

describe('the custom resources of identity in a real kube-apiserver', () => {
  let cluster: IamCluster;

  before(async () => {
    cluster = await clearedCluster();
  });

  for (const [plural, object, columns, row] of [
    [
      'users',
      user('ada', {
        email: 'ada@example.com',
        displayName: 'Ada L.',
        groups: ['dev', 'ops'],
        disabled: true,
      }),
      'NAME|EMAIL|GROUPS|DISABLED|AGE',
      /^ada\|ada@example\.com\|\["dev","ops"\]\|true\|\d+s$/,
    ],
    [
      'credentials',
      credential('ada', { mustChange: true }),
      'NAME|MUST-CHANGE|CHANGED|AGE',
      /^ada\|true\|\d+d\|\d+s$/,
    ],
    [
      'sessions',
      session('s-aaaaaaaaaaaaaaaaaaaa'),
      'NAME|USER|CLIENT|SOURCE|AGE|LAST-USED',
      /^s-a+\|ada\|platform\|192\.0\.2\.7\|\d+s\|\d+d$/,
    ],
  ] as const) {
    it(`have printer columns for ${plural}`, async () => {
      await cluster.write(ROOT_USER, 'create', object);
      const table = await cluster.kubectl(['get', `${plural}.iam.platform.io`]);
      const [heading, line] = table.split('\n').map((text) => text.trim().replaceAll(/ {2,}/g, '|'));
      expect(heading).to.equal(columns);
      expect(line).to.match(row);
    });
  }

  it('do not show password hashes', async () => {
    const table = await cluster.kubectl(['get', 'credentials.iam.platform.io', '-o', 'wide']);
    expect(table).to.include('ada').and.not.include('argon2');
  });

  it('have field selectors for sessions', async () => {
    await cluster.write(ROOT_USER, 'create', session('s-bbbbbbbbbbbbbbbbbbbb', { user: 'bob' }));
    const selected = ['get', 'sessions.iam.platform.io', '--field-selector=spec.user=bob', '-o', 'name'];
    expect(await cluster.kubectl(selected)).to.equal('session.iam.platform.io/s-bbbbbbbbbbbbbbbbbbbb\n');
  });

  it('ignore the status in a write of the spec', async () => {
    const eve = JSON.parse(user('eve')) as object;
    const status = { lastLoginTime: '2026-01-02T03:04:05Z' };
    await cluster.write(ROOT_USER, 'create', JSON.stringify({ ...eve, status }));
    const stored = ['get', 'users.iam.platform.io/eve', '-o', 'jsonpath={.status}'];
    expect(await cluster.kubectl(stored)).to.equal('');
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
