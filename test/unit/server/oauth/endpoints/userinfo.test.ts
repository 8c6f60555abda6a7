// Tests of the userinfo endpoint.
import { expect } from 'chai';
import { byIdentity } from '../../../../../server/oauth/sessions/proof.ts';
import { serveEachTest } from '../../../../support/oauth/oauth-endpoint.ts';
import { ALICE } from '../../../../support/oauth/signed-in.ts';

describe('the userinfo endpoint', () => {
  const at = serveEachTest('/oauth/userinfo');

  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

  it('accepts the token in the form of a POST, and ignores the form beside a token in the header', async () => {
    const claims = { sub: 'alice', email: 'alice@example.com' };
    for (const [form, headers] of [
      [{ access_token: at.login.access }, {}],
      [{ access_token: 'x.y.z' }, bearer(at.login.access)],
    ] as const) {
      const response = await at.post(form, headers);
      expect(response.body).to.deep.equal(claims);
      expect(response.headers.get('cache-control')).to.equal('no-store');
    }
    const json = { 'Content-Type': 'application/json', ...bearer(at.login.access) };
    expect((await at.post('{}', json)).body).to.deep.equal(claims);
  });

  it("returns the claims of the token's scopes only, with the current values", async () => {
    const profile = { preferred_username: 'alice', name: 'Alice' };
    const groups = { groups: ['developers'] };
    for (const [scopes, claims] of [
      [[], {}],
      [['profile'], profile],
      [['groups'], groups],
      [['openid', 'profile', 'email', 'groups'], { ...profile, ...groups, email: 'alice@example.com' }],
    ] as const) {
      const { access } = await at.replica.signIn('console', scopes);
      const { body } = await at.get('', bearer(access));
      expect(body, scopes.join(' ')).to.deep.equal({ sub: 'alice', ...claims });
    }
    const { access } = await at.replica.signIn('console', ['profile', 'groups', 'email']);
    at.cluster.state.accounts.set('alice', { ...ALICE, displayName: '', groups: [], email: '' });
    const current = { sub: 'alice', preferred_username: 'alice', name: 'alice', groups: [] };
    expect((await at.get('', bearer(access))).body).to.deep.equal(current);
  });

  it('returns the groups of the identity provider at a replica that does not know the new session yet', async () => {
    const { state } = at.cluster;
    const identity = { name: 'i-1', uid: 'uid-of-i-1', user: 'alice', userUID: ALICE.uid };
    const link = { ...identity, provider: 'company', issuer: 'i', subject: 's', displayName: '' };
    state.identities = { synced: true, get: () => link };
    const [one, other] = [await at.cluster.replica(), await at.cluster.replica()];
    other.site.store.lag();
    const { access, session } = await one.signIn('console', ['groups']);
    const proof = { kind: 'identity', ...identity, groups: ['staff'], checkedAt: state.now } as const;
    const authentication = byIdentity(proof, undefined, session.createdAt);
    state.sessions.objects.set(session.id, { ...session, authentication });
    for (const { site } of [one, other]) {
      const { text } = await site.ask('/oauth/userinfo', { headers: bearer(access) });
      expect(JSON.parse(text)).to.deep.equal({ sub: 'alice', groups: ['developers', 'staff'] });
    }
  });

  it('returns a challenge without error code when there is no token', async () => {
    for (const { status, headers } of [
      await at.get(''),
      await at.get('', { Authorization: 'Basic YTpi' }),
      await at.get(`?access_token=${at.login.access}`),
      await at.ask('POST', `?access_token=${at.login.access}`),
      await at.post({ access_token: '' }),
    ]) {
      expect(status).to.equal(401);
      expect(headers.get('www-authenticate')).to.equal('Bearer realm="oauth"');
    }
  });

  it('returns invalid_token for everything but a valid access token', async () => {
    const ended = await at.replica.signIn();
    at.cluster.state.sessions.objects.delete(ended.session.id);
    for (const token of [ended.access, at.login.id, at.login.refresh, `${at.login.access}=`, 'x', 'a.b.c']) {
      for (const { status, headers, body } of [
        await at.get('', bearer(token)),
        await at.post({ access_token: token }),
      ]) {
        expect(status, token).to.equal(401);
        expect(headers.get('www-authenticate')).to.equal('Bearer realm="oauth", error="invalid_token"');
        expect(body).to.have.property('error', 'invalid_token');
      }
    }
  });

  it('returns 503 when the token cannot be verified', async () => {
    at.replica.site.store.fresh = false;
    expect((await at.get('', bearer(at.login.access))).status).to.equal(503);
  });
});
