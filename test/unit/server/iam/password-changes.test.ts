import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { temporarilyUnavailable, tooManyAttempts } from '../../../../apis/oauth/errors.ts';
import { GOOD, UsersSite } from './users-site.ts';

const OLD = 'the old password';

describe('the password of a user, by REST', () => {
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

  it('is changed by the user, who has no other right, with the current one', async () => {
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

  it('is never older than the one before, though another clock was ahead; nor as far ahead as a mistake', async () => {
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

  it('is not changed with a wrong one, however much its user may', async () => {
    site.allow('ada', 'update users/ada', 'impersonate users/ada', 'impersonate groups/dev');
    const answer = await site.ask('ada', 'PUT', '/ada/password', {
      currentPassword: 'guessed it',
      password: GOOD,
    });
    expect(answer.status).to.equal(422);
    expect(answer.body).to.include('currentPassword').and.not.include('guessed it').and.not.include(GOOD);
    unchanged('ada');
  });

  it('is not changed without the current one', async () => {
    const answer = await site.ask('ada', 'PUT', '/ada/password', { password: GOOD });
    expect(answer.status).to.equal(422);
    expect(answer.json.details?.causes?.map(({ field }) => field)).to.deep.equal(['currentPassword']);
    expect(site.checked).to.deep.equal([]);
    unchanged('ada');
  });

  it('cannot be guessed here more often than at a sign-in', async () => {
    site.refusal = tooManyAttempts(7);
    const answer = await site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: GOOD });
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([429, '7']);
    site.refusal = temporarilyUnavailable('busy', 2);
    const busy = await site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: GOOD });
    expect([busy.status, busy.headers['retry-after']]).to.deep.equal([503, '2']);
    unchanged('ada');
  });

  it('has to be another one than before, and a good one; all faults at once, none repeated', async () => {
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

  it('of the wrong type is not repeated', async () => {
    const answer = await site.ask('ada', 'PUT', '/ada/password', {
      currentPassword: 'hidden',
      password: 12345678,
    });
    expect(answer.status).to.equal(422);
    expect(answer.body).not.to.include('12345678').and.not.include('hidden');
  });

  it("is not another user's to change", async () => {
    const answer = await site.ask('ada', 'PUT', '/root/password', { currentPassword: OLD, password: GOOD });
    expect(answer.status).to.equal(403);
    unchanged('root');
  });

  it('is set by who may impersonate the user and its groups, to be replaced by the user', async () => {
    site.allow('helper', 'impersonate users/ada', 'impersonate groups/dev');
    const answer = await site.ask('helper', 'PUT', '/ada/password', { password: GOOD });
    expect(answer.status).to.equal(200);
    expect(site.credentials.get('ada')).to.include({ passwordHash: `hash of ${GOOD}`, mustChange: true });
    expect(site.sessions.get('ada')).to.deep.equal([]);
    await site.ask('helper', 'PUT', '/ada/password', { password: `${GOOD}!`, mustChange: false });
    expect(site.credentials.get('ada')).to.include({ mustChange: false });
  });

  it('is not set by who may impersonate the user but not its groups, nor the other way round', async () => {
    site.allow('helper', 'impersonate users/root');
    const group = await site.ask('helper', 'PUT', '/root/password', { password: GOOD });
    expect(group.status).to.equal(403);
    expect(group.json.message).to.include('not allowed: the group "platform-admins"');
    site.allow('helper', 'impersonate groups/platform-admins');
    const user = await site.ask('helper', 'PUT', '/root/password', { password: GOOD });
    expect(user.json.message).to.include('not allowed: the user');
    unchanged('root');
  });

  it('of nobody cannot be set', async () => {
    site.allow('helper', 'impersonate users/ghost');
    expect((await site.ask('helper', 'PUT', '/ghost/password', { password: GOOD })).status).to.equal(404);
    expect(site.credentials.get('ghost')).to.equal(undefined);
  });

  it('that was replaced while the current one was checked is not overwritten', async () => {
    const present = site.credentials.get('ada');
    if (!present) throw new Error('no password');
    const check = site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: GOOD });
    site.beforeHash = () =>
      site.credentials.set('ada', { ...present, passwordHash: 'set by somebody', changedAt: 500 });
    expect((await check).status).to.equal(409);
    expect(site.credentials.get('ada')?.passwordHash).to.equal('set by somebody');
  });

  describe('that was found right', () => {
    const change = () => site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: GOOD });
    const present = () => {
      const credential = site.credentials.get('ada');
      if (!credential) throw new Error('no password');
      const { resourceVersion: _, ...rest } = credential;
      return rest;
    };

    it('is not changed when it was replaced before anybody looked again', async () => {
      const replaced = { ...present(), passwordHash: 'set by somebody', changedAt: 500 };
      site.afterCheck = () => site.credentials.set('ada', replaced);
      const answer = await change();
      expect([answer.status, answer.json.reason]).to.deep.equal([409, 'Conflict']);
      expect(present()).to.deep.equal(replaced);
    });

    it('is not changed when it is that of an earlier user of the name', async () => {
      const earlier = { ...present(), userUID: 'another' };
      await site.credentials.set('ada', earlier);
      expect((await change()).status).to.equal(409);
      expect(present()).to.deep.equal(earlier);
    });

    it('is not changed when it was taken away meanwhile', async () => {
      site.afterCheck = async () => site.credentials.delete('ada');
      expect((await change()).status).to.equal(409);
      expect(site.credentials.get('ada')).to.equal(undefined);
    });

    it('is not changed when it was taken away and one made anew, though under the same time', async () => {
      const anew = { ...present(), passwordHash: 'set by somebody' };
      site.afterCheck = async () => {
        site.credentials.delete('ada');
        await site.credentials.create('ada', anew);
      };
      expect((await change()).status).to.equal(409);
      expect(present()).to.include({ passwordHash: 'set by somebody' }).and.not.to.include({ uid: anew.uid });
    });

    it('is changed although the check has renewed its hash', async () => {
      const renewed = { ...present(), passwordHash: 'a better hash of it' };
      site.afterCheck = () => site.credentials.set('ada', renewed);
      expect((await change()).status).to.equal(200);
      expect(present()).to.include({ passwordHash: `hash of ${GOOD}`, changedAt: 1000 });
    });
  });

  it('is not called wrong when something else went wrong', async () => {
    site.refusal = newServiceUnavailable('the cluster is away', 3);
    const answer = await site.ask('ada', 'PUT', '/ada/password', { currentPassword: OLD, password: GOOD });
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '3']);
    unchanged('ada');
  });
});
