// Tests of resets of second factors through POST users/NAME/factor-reset.
import { expect } from 'chai';
import { recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { hashOfCode } from '../../../../server/oauth/factors/recovery-codes.ts';
import { byIdentity } from '../../../../server/oauth/sessions/proof.ts';
import type { Session } from '../../../../server/oauth/sessions/session.ts';
import { newSession } from '../../../support/oauth/new-session.ts';
import { document, UsersSite } from './users-site.ts';

const FACTORS = {
  passkeys: [],
  totp: { secret: 'sealed', addedTime: '2026-11-01T00:00:00Z', lastStep: 1 },
  recoveryCodes: [{ hash: hashOfCode('of ada') }],
};

describe('POST users/NAME/factor-reset', () => {
  let site: UsersSite;

  beforeEach(async () => {
    site = await new UsersSite().start();
    for (const { name } of await site.addAdaAndRoot()) site.factors.set(name, FACTORS);
  });
  afterEach(() => site.stop());

  const reset = (user: string, name: string) => site.ask(user, 'POST', `/${name}/factor-reset`);
  const unchanged = (name: string): void => {
    expect(site.factors.get(name)).to.equal(FACTORS);
    expect(site.sessions.ofUser(name)).to.have.length(2);
  };

  it('ends the sessions that began at another replica a moment ago, too', async () => {
    site.allow('helper', 'impersonate users/ada', 'impersonate groups/dev');
    site.sessions.lag();
    await site.sessions.create(newSession({ user: 'ada', userUID: site.users.get('ada')?.uid ?? '' }));
    expect((await reset('helper', 'ada')).status).to.equal(201);
    expect(await site.sessions.readOfUser('ada')).to.deep.equal([]);
  });

  const linkAda = (): void => {
    const person = { provider: 'company', issuer: 'i', subject: 's', displayName: '' };
    const { uid: userUID = '' } = site.users.get('ada') ?? {};
    site.identities.push({ ...person, name: 'i-1', uid: 'u', user: 'ada', userUID });
  };
  /** A session of ada that began at the provider. */
  const ofPerson = (...groups: string[]): Session => {
    const { uid: userUID = '' } = site.users.get('ada') ?? {};
    const proof = { kind: 'identity', name: 'i-1', uid: 'u', groups, checkedAt: 0 } as const;
    return newSession({ user: 'ada', userUID, authentication: byIdentity(proof, undefined, 0) });
  };

  it('replaces all factors by a code of a day that only this response has, ends the sessions, and is logged', async () => {
    site.allow('helper', 'impersonate users/ada', 'impersonate groups/dev');
    const { status, headers, json, body } = await reset('helper', 'ada');
    expect([status, headers['cache-control'], json.kind], body).to.deep.equal([
      201,
      'no-store',
      'FactorReset',
    ]);
    const { code, expirationTimestamp } = recordIn(json, 'status');
    const notAfter = new Date(site.now + 86_400_000).toISOString();
    expect(expirationTimestamp).to.equal(notAfter);
    expect(text(code)).to.match(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
    expect(site.factors.get('ada')).to.deep.equal({
      passkeys: [],
      recoveryCodes: [{ hash: hashOfCode(text(code)), notAfter }],
    });
    expect(site.sessions.ofUser('ada')).to.have.length(0);
    expect(site.forgiven).to.deep.equal(['ada']);
    expect(site.logged).to.have.length(1);
    expect(site.logged[0]).to.include({ user: 'ada', by: 'helper' });
    expect(JSON.stringify(site.logged)).to.not.include(text(code));
    unchanged('root');
  });

  it('requires permission to impersonate the user and all groups, so that a help desk cannot weaken an administrator', async () => {
    site.allow('helper', 'impersonate users/root');
    const group = await reset('helper', 'root');
    expect(group.status).to.equal(403);
    expect(group.json.message).to.include('resetting the second factors requires permission to impersonate');
    expect(group.json.message).to.include('not allowed: the group "platform-admins"');
    site.allow('helper', 'impersonate groups/platform-admins');
    expect((await reset('helper', 'root')).json.message).to.include('not allowed: the user');
    unchanged('root');
  });

  it('requires it also for the groups that an identity provider has granted in a session', async () => {
    linkAda();
    await site.sessions.create(ofPerson('operators'));
    site.allow('helper', 'impersonate users/ada', 'impersonate groups/dev');
    expect((await reset('helper', 'ada')).json.message).to.include('not allowed: the group "operators"');
    expect(site.factors.get('ada')).to.equal(FACTORS);
    site.allow('helper', 'impersonate users/ada', 'impersonate groups/dev', 'impersonate groups/operators');
    expect((await reset('helper', 'ada')).status).to.equal(201);
  });

  it('requires it for all groups that the provider may grant, after the help desk has ended the sessions', async () => {
    linkAda();
    await site.sessions.create(ofPerson('c-operators'));
    site.allow('helper', 'impersonate users/ada', 'impersonate groups/dev');
    for (const disabled of [true, false]) {
      const body = document('ada', { groups: ['dev'], disabled });
      expect((await site.ask('helper', 'PUT', '/ada', body)).status).to.equal(200);
    }
    expect(site.sessions.ofUser('ada')).to.have.length(0);
    const named = await reset('helper', 'ada');
    expect(named.json.message).to.include('not allowed: the group "c-operators"');
    site.granted.splice(0, 1, '*');
    const every = await reset('helper', 'ada');
    expect(every.json.message).to.include('not allowed: every group, as an identity provider may grant it');
    expect(site.factors.get('ada')).to.equal(FACTORS);
    site.allow('helper', 'impersonate users/ada', 'impersonate groups/dev', 'impersonate groups/');
    expect((await reset('helper', 'ada')).status).to.equal(201);
  });

  it('needs a user, and is no way for users to reset their own factors', async () => {
    site.allow('helper', 'impersonate users/ghost');
    expect((await reset('helper', 'ghost')).status).to.equal(404);
    expect((await reset('ada', 'ada')).status).to.equal(403);
    unchanged('ada');
  });
});
