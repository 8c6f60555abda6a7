// Tests of the introspection endpoint.
import { expect } from 'chai';
import { introspectionHandler } from '../../../../../server/oauth/endpoints/introspect.ts';
import { basic, type EndpointResponse, OAuthEndpoint } from '../../../../support/oauth/oauth-endpoint.ts';
import {
  ALICE,
  ISSUER,
  type Login,
  type Replica,
  SECRET,
  SignedInCluster,
} from '../../../../support/oauth/signed-in.ts';

describe('the introspection endpoint', () => {
  let cluster: SignedInCluster;
  let replica: Replica;
  let login: Login;
  let endpoint: OAuthEndpoint;
  /** A change in the cluster that the cache has not received yet. */
  let news: typeof ALICE | undefined;

  beforeEach(async () => {
    news = undefined;
    cluster = await SignedInCluster.start();
    replica = cluster.replica();
    login = await replica.signIn();
    const { tokens } = replica;
    const { registry: clients, users, credentials } = cluster;
    endpoint = await new OAuthEndpoint(
      introspectionHandler({
        clients,
        tokens,
        users: Object.assign(users, {
          catchUp: async () => {
            if (news) cluster.accounts.set('alice', news);
          },
        }),
        credentials,
        issuer: () => ISSUER,
        now: () => cluster.now,
      }),
    ).start();
  });

  afterEach(() => endpoint.close());

  const ask = (token: string, client = 'console'): Promise<EndpointResponse> =>
    endpoint.post({ token }, basic(client, SECRET));

  async function expectInactive(token: string, client?: string): Promise<void> {
    const { status, body } = await ask(token, client);
    expect(status).to.equal(200);
    expect(body).to.deep.equal({ active: false });
  }

  it('describes an access token to any authenticated client', async () => {
    for (const client of ['console', 'other']) {
      const { status, headers, body } = await ask(login.access, client);
      expect(status).to.equal(200);
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(body).to.deep.include({
        active: true,
        sub: 'alice',
        username: 'alice',
        client_id: 'console',
        scope: 'openid email',
        token_type: 'Bearer',
        iss: ISSUER,
        aud: ['platform'],
        sid: login.session.id,
        iat: cluster.now / 1000,
        exp: cluster.now / 1000 + 7200,
      });
      expect(body).to.have.property('jti');
    }
  });

  it('describes a refresh token with its idle expiry to its own client only', async () => {
    const { body } = await ask(login.refresh);
    expect(body).to.deep.equal({
      active: true,
      scope: 'openid email',
      client_id: 'console',
      username: 'alice',
      sub: 'alice',
      iss: ISSUER,
      sid: login.session.id,
      iat: cluster.now / 1000,
      exp: login.session.idleNotAfter / 1000,
    });
    await expectInactive(login.refresh, 'other');
    await replica.refresh(login.refresh);
    cluster.now += 7_200_000;
    await expectInactive(login.access);
  });

  it('returns the same response for every invalid token', async () => {
    const rotated = await replica.refresh(login.refresh);
    await expectInactive(login.refresh);
    await expectInactive(login.id);
    for (const token of ['x', 'a.b.c', 'prt_', `${login.access}A`, `${rotated.refresh_token ?? ''}A`]) {
      await expectInactive(token);
    }
    cluster.shared.objects.delete(login.session.id);
    await expectInactive(login.access);
    await expectInactive(rotated.access_token);
    await expectInactive(rotated.refresh_token ?? '');
  });

  it('reports tokens of a disabled user, and of an old password, as inactive', async () => {
    cluster.accounts.set('alice', { ...ALICE, disabled: true });
    await expectInactive(login.access);
    await expectInactive(login.refresh);
    cluster.accounts.set('alice', ALICE);
    cluster.now += 1000;
    cluster.changePassword();
    await expectInactive(login.access);
    await expectInactive(login.refresh);
  });

  it('reports tokens of a user that another replica has just created as active', async () => {
    for (const token of [login.access, login.refresh]) {
      cluster.accounts.delete('alice');
      news = ALICE;
      expect((await ask(token)).body).to.have.property('active', true);
    }
  });

  it('returns 503 when validity cannot be determined', async () => {
    replica.sessions.fresh = false;
    expect((await ask(login.access)).status).to.equal(503);
    replica.sessions.fresh = true;
    cluster.users.synced = false;
    for (const token of [login.access, login.refresh]) expect((await ask(token)).status).to.equal(503);
  });

  it('rejects unauthenticated and public clients', async () => {
    for (const [form, headers] of [
      [{}, { Authorization: `Bearer ${login.access}` }],
      [{}, basic('console', 'wrong')],
      [{}, basic('terminal', '')],
      [{ client_id: 'terminal' }, {}],
    ] as const) {
      const { status, body } = await endpoint.post({ token: login.access, ...form }, headers);
      expect(status).to.equal(401);
      expect(body).to.have.property('error', 'invalid_client');
    }
  });

  it('requires a token', async () => {
    const { body } = await endpoint.post({}, basic('console', SECRET));
    expect(body).to.have.property('error', 'invalid_request');
  });
});
