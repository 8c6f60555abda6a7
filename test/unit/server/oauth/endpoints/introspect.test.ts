// Tests of the introspection endpoint.
import { expect } from 'chai';
import { basic, type EndpointResponse, serveEachTest } from '../../../../support/oauth/oauth-endpoint.ts';
import { ISSUER } from '../../../../support/oauth/sign-in-site.ts';
import { ALICE } from '../../../../support/oauth/signed-in.ts';

describe('the introspection endpoint', () => {
  const at = serveEachTest('/oauth/introspect');

  const ask = (token: string, client = 'console'): Promise<EndpointResponse> =>
    at.post({ token }, basic(client, `secret of ${client}`));

  /** The members that access tokens and refresh tokens have in common. */
  const described = (exp: number) => ({
    active: true,
    scope: 'openid email',
    client_id: 'console',
    username: 'alice',
    sub: 'alice',
    iss: ISSUER,
    sid: at.login.session.id,
    iat: at.cluster.state.now / 1000,
    exp,
  });

  async function expectInactive(token: string, client?: string): Promise<void> {
    const { status, body } = await ask(token, client);
    expect(status).to.equal(200);
    expect(body).to.deep.equal({ active: false });
  }

  it('describes an access token to any authenticated client', async () => {
    for (const client of ['console', 'other']) {
      const { status, headers, body } = await ask(at.login.access, client);
      expect(status).to.equal(200);
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(body).to.deep.include({
        ...described(at.cluster.state.now / 1000 + 7200),
        token_type: 'Bearer',
        aud: ['platform'],
        auth_time: at.cluster.state.now / 1000,
        acr: '1fa',
      });
      expect(body).to.have.property('jti');
    }
  });

  it('describes a refresh token with its idle expiry to its own client only', async () => {
    const { body } = await ask(at.login.refresh);
    expect(body).to.deep.equal(described(at.login.session.idleNotAfter / 1000));
    await expectInactive(at.login.refresh, 'other');
    await at.replica.refresh(at.login.refresh);
    at.cluster.state.now += 7_200_000;
    await expectInactive(at.login.access);
  });

  it('returns the same response for every invalid token', async () => {
    const rotated = await at.replica.refresh(at.login.refresh);
    const { access_token, refresh_token = '' } = rotated;
    const malformed = ['x', 'a.b.c', 'prt_', `${at.login.access}A`, `${refresh_token}A`];
    for (const token of [at.login.refresh, at.login.id, ...malformed]) await expectInactive(token);
    at.cluster.state.sessions.objects.delete(at.login.session.id);
    for (const token of [at.login.access, access_token, refresh_token]) await expectInactive(token);
  });

  it('reports tokens of a disabled user, and of an old password, as inactive', async () => {
    for (const token of [at.login.access, at.login.refresh]) {
      at.cluster.state.accounts.set('alice', { ...ALICE, disabled: true });
      await expectInactive(token);
      at.cluster.state.accounts.set('alice', ALICE);
    }
    at.cluster.state.now += 1000;
    at.cluster.changePassword();
    for (const token of [at.login.access, at.login.refresh]) await expectInactive(token);
  });

  it('reports tokens of a user that another replica has just created as active', async () => {
    const catchUp = async () => void at.cluster.state.accounts.set('alice', ALICE);
    Object.assign(at.cluster.state.users, { catchUp });
    for (const token of [at.login.access, at.login.refresh]) {
      at.cluster.state.accounts.delete('alice');
      expect((await ask(token)).body).to.have.property('active', true);
    }
  });

  it('returns 503 when validity cannot be determined', async () => {
    at.replica.site.store.fresh = false;
    expect((await ask(at.login.access)).status).to.equal(503);
    at.replica.site.store.fresh = true;
    at.cluster.state.users.synced = false;
    for (const token of [at.login.access, at.login.refresh]) expect((await ask(token)).status).to.equal(503);
  });

  it('rejects unauthenticated and public clients', async () => {
    for (const [form, headers] of [
      [{}, { Authorization: `Bearer ${at.login.access}` }],
      [{}, basic('console', 'wrong')],
      [{}, basic('terminal', '')],
      [{ client_id: 'terminal' }, {}],
    ] as const) {
      const { status, body } = await at.post({ token: at.login.access, ...form }, headers);
      expect(status).to.equal(401);
      expect(body).to.have.property('error', 'invalid_client');
    }
  });

  it('requires a token', async () => {
    const { body } = await at.post({}, basic('console', 'secret of console'));
    expect(body).to.have.property('error', 'invalid_request');
  });
});
