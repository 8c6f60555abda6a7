// Tests of password changes through PUT users/NAME/password.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { temporarilyUnavailable, tooManyAttempts } from '../../../../apis/oauth/oauth-error.ts';
import { fieldsOf, GOOD, UsersSite } from './users-site.ts';

const OLD = 'the old password';
const HASH = `hash of ${OLD}`;

describe('PUT users/NAME/password', () => {
  let site: UsersSite;

  beforeEach(async () => {
    site = await new UsersSite().start();
    for (const { name, uid: userUID } of await site.addAdaAndRoot()) {
      await site.credentials.set(name, { passwordHash: HASH, userUID, mustChange: true, changedAt: 1 });
    }
  });
  afterEach(() => site.stop());

  const put = (user: string, name: string, body: object) => site.ask(user, 'PUT', `/${name}/password`, body);
  const change = () => put('ada', 'ada', { currentPassword: OLD, password: GOOD });
  const unchanged = (name: string): void => {
    expect(site.credentials.get(name)?.passwordHash).to.equal(HASH);
    expect(site.sessions.ofUser(name)).to.have.length(2);
  };

  it("changes one's own password with the current one, without further permissions", async () => {
    const answer = await change();
    expect(answer.status).to.equal(200);
    expect(answer.json).to.include({ message: 'success' });
    const changed = { passwordHash: `hash of ${GOOD}`, mustChange: false, changedAt: 1000 };
    expect(site.credentials.get('ada')).to.include(changed);
    expect(site.sessions.ofUser('ada')).to.have.length(0);
    expect(site.sessions.ofUser('root')).to.have.length(2);
    expect(site.checked).to.have.length(1);
    expect(site.checked[0]).to.include({ user: 'ada', source: '192.0.2.7', method: 'password_change' });
  });

  it('sets a change time after the previous one, unless that is far in the future', async () => {
    const userUID = site.credentials.get('ada')?.userUID ?? '';
    for (const [before, after] of [
      [2000, 2001],
      [Date.parse('2099-01-01T00:00:00Z'), 1000],
    ] as const) {
      await site.credentials.set('ada', {
        passwordHash: HASH,
        userUID,
        mustChange: false,
        changedAt: before,
      });
      await change();
      expect(site.credentials.get('ada')).to.include({ changedAt: after });
    }
  });

  it('rejects a wrong or missing current password, even with permission to impersonate the user', async () => {
    site.allow('ada', 'update users/ada', 'impersonate users/ada', 'impersonate groups/dev');
    for (const currentPassword of ['guessed it', undefined]) {
      const answer = await put('ada', 'ada', { currentPassword, password: GOOD });
      expect([answer.status, fieldsOf(answer)]).to.deep.equal([422, ['currentPassword']]);
      expect(answer.body).to.not.include('guessed it').and.not.include(GOOD);
    }
    expect(site.checked).to.have.length(1);
    unchanged('ada');
  });

  it('rejects a user with a second factor, whose password and token may be stolen', async () => {
    site.factors.set('ada', { passkeys: [], recoveryCodes: [{ hash: 'of a code' }] });
    for (const currentPassword of [OLD, 'guessed it']) {
      const answer = await put('ada', 'ada', { currentPassword, password: GOOD });
      expect([answer.status, answer.json.message]).to.deep.equal([
        403,
        'users.iam.platform.io "ada" is forbidden: with a second factor, the password can be changed on the account page only',
      ]);
    }
    expect(site.checked, 'nothing says whether the password is right').to.have.length(0);
    unchanged('ada');
    site.factors.clear();
    expect((await change()).status).to.equal(200);
  });

  it('returns 429 when the throttle of sign-ins delays the attempt, and 503 during an outage', async () => {
    for (const [refusal, expected] of [
      [tooManyAttempts(7), [429, '7']],
      [temporarilyUnavailable('busy', 2), [503, '2']],
      [newServiceUnavailable('kube-apiserver is unreachable', 3), [503, '3']],
    ] as const) {
      site.refusal = refusal;
      const answer = await change();
      expect([answer.status, answer.headers['retry-after']]).to.deep.equal(expected);
    }
    unchanged('ada');
  });

  it('names all violations of the policy at once, without values', async () => {
    expect((await put('ada', 'ada', { currentPassword: OLD, password: OLD })).status).to.equal(422);
    const bad = await put('ada', 'ada', { currentPassword: OLD, password: 'x\ny', mustChange: true });
    expect(fieldsOf(bad)).to.deep.equal(['password', 'password', 'mustChange']);
    expect(bad.body).not.to.include('x\\ny');
    const number = await put('ada', 'ada', { currentPassword: 'hidden', password: 12345678 });
    expect(number.status).to.equal(422);
    expect(number.body).not.to.include('12345678').and.not.include('hidden');
    unchanged('ada');
  });

  it('allows a caller with permission to impersonate the user and its groups, with mustChange', async () => {
    site.allow('helper', 'impersonate users/ada', 'impersonate groups/dev');
    const answer = await put('helper', 'ada', { password: GOOD });
    expect(answer.status).to.equal(200);
    expect(site.credentials.get('ada')).to.include({ passwordHash: `hash of ${GOOD}`, mustChange: true });
    expect(site.sessions.ofUser('ada')).to.have.length(0);
    await put('helper', 'ada', { password: `${GOOD}!`, mustChange: false });
    expect(site.credentials.get('ada')).to.include({ mustChange: false });
  });

  it('requires permission to impersonate both the user and its groups', async () => {
    site.allow('helper', 'impersonate users/root');
    const group = await put('helper', 'root', { password: GOOD });
    expect(group.status).to.equal(403);
    expect(group.json.message).to.include('not allowed: the group "platform-admins"');
    site.allow('helper', 'impersonate groups/platform-admins');
    const user = await put('helper', 'root', { password: GOOD });
    expect(user.json.message).to.include('not allowed: the user');
    expect((await put('ada', 'root', { currentPassword: OLD, password: GOOD })).status).to.equal(403);
    unchanged('root');
    site.allow('helper', 'impersonate users/ghost');
    expect((await put('helper', 'ghost', { password: GOOD })).status).to.equal(404);
    expect(site.credentials.get('ghost')).to.equal(undefined);
  });

  it('returns 409 when the verified password was replaced, deleted or recreated during the request', async () => {
    const present = site.credentials.get('ada');
    if (!present) throw new Error('no password');
    const { resourceVersion: _, ...known } = present;
    const other = { ...known, passwordHash: 'set by another client' };
    const replace = () => site.credentials.set('ada', { ...other, changedAt: 500 });
    const recreate = async () => {
      site.credentials.delete('ada');
      await site.credentials.create('ada', other);
    };
    for (const [meanwhile, step] of [
      [replace, 'afterCheck'],
      [replace, 'beforeHash'],
      [recreate, 'afterCheck'],
    ] as const) {
      await site.credentials.set('ada', known);
      site[step] = meanwhile;
      const answer = await change();
      expect([answer.status, answer.json.reason]).to.deep.equal([409, 'Conflict']);
      expect(site.credentials.get('ada')?.passwordHash).to.equal('set by another client');
      site.afterCheck = site.beforeHash = () => Promise.resolve();
    }
    await site.credentials.set('ada', { ...known, userUID: 'of an earlier user of the same name' });
    expect((await change()).status).to.equal(409);
    site.afterCheck = async () => site.credentials.delete('ada');
    expect((await change()).status).to.equal(409);
    expect(site.credentials.get('ada')).to.equal(undefined);
  });

  it('succeeds when the verification has replaced a weak hash', async () => {
    const present = site.credentials.get('ada');
    if (!present) throw new Error('no password');
    const { resourceVersion: _, ...known } = present;
    site.afterCheck = () => site.credentials.set('ada', { ...known, passwordHash: 'a better hash of it' });
    expect((await change()).status).to.equal(200);
    expect(site.credentials.get('ada')).to.include({ passwordHash: `hash of ${GOOD}`, changedAt: 1000 });
  });
});
