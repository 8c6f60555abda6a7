// Tests of password changes through PUT users/NAME/password.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { temporarilyUnavailable, tooManyAttempts } from '../../../../apis/oauth/errors.ts';
import { GOOD, UsersSite } from './users-site.ts';

const OLD = 'the old password';

describe('PUT users/NAME/password', () => {
  let site: UsersSite;

  beforeEach(async () => {
    site = await new UsersSite().start();
    for (const [name, groups] of [
      ['ada', ['dev']],
      ['root', ['platform-admins']],
    ] as const) {
      const { metadata } = await site.users.create({ metadata: { name }, spec: { groups: [...groups] } });
      await site.credentials.set(name, {
        passwordHash: `hash of ${OLD}`,
        userUID: metadata.uid ?? '',
        mustChange: true,
        changedAt: 1,
      });
      site.sessions.set(name, [`s-${name}-1`, `s-${name}-2`]);
    }
  });
  afterEach(() => site.stop());

  const unchanged = (name: string): void => {
    expect(site.credentials.get(name)?.passwordHash).to.equal(`hash of ${OLD}`);
    expect(site.sessions.get(name)).to.have.length(2);
  };

  it("changes one's own password with the current one, without further permissions", async () => {
    const answer = await site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: GOOD });
    expect(answer.status).to.equal(200);
    expect(answer.json).to.include({ message: 'success' });
    expect(site.credentials.get('ada')).to.include({
      passwordHash: `hash of ${GOOD}`,
      mustChange: false,
      changedAt: 1000,
    });
    expect(site.sessions.get('ada')).to.deep.equal([]);
    expect(site.sessions.get('root')).to.have.length(2);
    expect(site.checked).to.have.length(1);
    expect(site.checked[0]).to.include({ user: 'ada', source: '192.0.2.7', method: 'password_change' });
  });

  it('sets a change time after the previous one, unless that is far in the future', async () => {
    const userUID = site.credentials.get('ada')?.userUID ?? '';
    for (const [before, after] of [
      [2000, 2001],
      [Date.parse('2099-01-01T00:00:00Z'), 1000],
    ] as const) {
      const passwordHash = `hash of ${OLD}`;
      await site.credentials.set('ada', { passwordHash, userUID, mustChange: false, changedAt: before });
      await site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: GOOD });
      expect(site.credentials.get('ada')).to.include({ changedAt: after });
    }
  });

  it('rejects a wrong current password, even with permission to impersonate the user', async () => {
    site.allow('ada', 'update users/ada', 'impersonate users/ada', 'impersonate groups/dev');
    const answer = await site.ask('ada', 'PUT', '/ada/password', {
      currentPassword: 'guessed it',
      password: GOOD,
    });
    expect(answer.status).to.equal(422);
    expect(answer.body).to.include('currentPassword').and.not.include('guessed it').and.not.include(GOOD);
    unchanged('ada');
  });

  it('requires the current password', async () => {
    const answer = await site.ask('ada', 'PUT', '/ada/password', { password: GOOD });
    expect(answer.status).to.equal(422);
    expect(answer.json.details?.causes?.map(({ field }) => field)).to.deep.equal(['currentPassword']);
    expect(site.checked).to.deep.equal([]);
    unchanged('ada');
  });

  it('returns 429 when the throttle of sign-ins delays the attempt', async () => {
    site.refusal = tooManyAttempts(7);
    const answer = await site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: GOOD });
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([429, '7']);
    site.refusal = temporarilyUnavailable('busy', 2);
    const busy = await site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: GOOD });
    expect([busy.status, busy.headers['retry-after']]).to.deep.equal([503, '2']);
    unchanged('ada');
  });

  it('names all violations of the policy at once, without values', async () => {
    const same = await site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: OLD });
    expect(same.status).to.equal(422);
    const bad = await site.ask('ada', 'PUT', '/ada/password', {
      currentPassword: OLD,
      password: 'x\ny',
      mustChange: true,
    });
    expect(bad.json.details?.causes?.map(({ field }) => field)).to.deep.equal([
      'password',
      'password',
      'mustChange',
    ]);
    expect(bad.body).not.to.include('x\\ny');
    unchanged('ada');
  });

  it('does not repeat a password of the wrong type', async () => {
    const answer = await site.ask('ada', 'PUT', '/ada/password', {
      currentPassword: 'hidden',
      password: 12345678,
    });
    expect(answer.status).to.equal(422);
    expect(answer.body).not.to.include('12345678').and.not.include('hidden');
  });

  it("denies a change of another user's password", async () => {
    const answer = await site.ask('ada', 'PUT', '/root/password', { currentPassword: OLD, password: GOOD });
    expect(answer.status).to.equal(403);
    unchanged('root');
  });

  it('allows a caller with permission to impersonate the user and its groups, with mustChange', async () => {
    site.allow('helper', 'impersonate users/ada', 'impersonate groups/dev');
    const answer = await site.ask('helper', 'PUT', '/ada/password', { password: GOOD });
    expect(answer.status).to.equal(200);
    expect(site.credentials.get('ada')).to.include({ passwordHash: `hash of ${GOOD}`, mustChange: true });
    expect(site.sessions.get('ada')).to.deep.equal([]);
    await site.ask('helper', 'PUT', '/ada/password', { password: `${GOOD}!`, mustChange: false });
    expect(site.credentials.get('ada')).to.include({ mustChange: false });
  });

  it('requires permission to impersonate both the user and its groups', async () => {
    site.allow('helper', 'impersonate users/root');
    const group = await site.ask('helper', 'PUT', '/root/password', { password: GOOD });
    expect(group.status).to.equal(403);
    expect(group.json.message).to.include('not allowed: the group "platform-admins"');
    site.allow('helper', 'impersonate groups/platform-admins');
    const user = await site.ask('helper', 'PUT', '/root/password', { password: GOOD });
    expect(user.json.message).to.include('not allowed: the user');
    unchanged('root');
  });

  it('returns 404 for an unknown user', async () => {
    site.allow('helper', 'impersonate users/ghost');
    expect((await site.ask('helper', 'PUT', '/ghost/password', { password: GOOD })).status).to.equal(404);
    expect(site.credentials.get('ghost')).to.equal(undefined);
  });

  it('does not overwrite a password that was set during the verification', async () => {
    const present = site.credentials.get('ada');
    if (!present) throw new Error('no password');
    const check = site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: GOOD });
    site.beforeHash = () =>
      site.credentials.set('ada', { ...present, passwordHash: 'set by another client', changedAt: 500 });
    expect((await check).status).to.equal(409);
    expect(site.credentials.get('ada')?.passwordHash).to.equal('set by another client');
  });

  describe('after the current password was verified', () => {
    const change = () => site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: GOOD });
    const present = () => {
      const credential = site.credentials.get('ada');
      if (!credential) throw new Error('no password');
      const { resourceVersion: _, ...rest } = credential;
      return rest;
    };

    it('returns 409 when it was replaced during the request', async () => {
      const replaced = { ...present(), passwordHash: 'set by another client', changedAt: 500 };
      site.afterCheck = () => site.credentials.set('ada', replaced);
      const answer = await change();
      expect([answer.status, answer.json.reason]).to.deep.equal([409, 'Conflict']);
      expect(present()).to.deep.equal(replaced);
    });

    it('returns 409 when it belongs to an earlier user of the same name', async () => {
      const earlier = { ...present(), userUID: 'another' };
      await site.credentials.set('ada', earlier);
      expect((await change()).status).to.equal(409);
      expect(present()).to.deep.equal(earlier);
    });

    it('returns 409 when it was deleted during the request', async () => {
      site.afterCheck = async () => site.credentials.delete('ada');
      expect((await change()).status).to.equal(409);
      expect(site.credentials.get('ada')).to.equal(undefined);
    });

    it('returns 409 when it was recreated, even with the same time', async () => {
      const recreated = { ...present(), passwordHash: 'set by another client' };
      site.afterCheck = async () => {
        site.credentials.delete('ada');
        await site.credentials.create('ada', recreated);
      };
      expect((await change()).status).to.equal(409);
      expect(present())
        .to.include({ passwordHash: 'set by another client' })
        .and.not.to.include({ uid: recreated.uid });
    });

    it('succeeds when the verification has replaced a weak hash', async () => {
      const renewed = { ...present(), passwordHash: 'a better hash of it' };
      site.afterCheck = () => site.credentials.set('ada', renewed);
      expect((await change()).status).to.equal(200);
      expect(present()).to.include({ passwordHash: `hash of ${GOOD}`, changedAt: 1000 });
    });
  });

  it('returns 503 when the password cannot be verified', async () => {
    site.refusal = newServiceUnavailable('kube-apiserver is unreachable', 3);
    const answer = await site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: GOOD });
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '3']);
    unchanged('ada');
  });
});
