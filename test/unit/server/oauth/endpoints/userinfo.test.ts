// Tests of the userinfo endpoint.
import { expect } from 'chai';
import { userInfoHandler } from '../../../../../server/oauth/endpoints/userinfo.ts';
import { OAuthEndpoint } from '../../../../support/oauth/oauth-endpoint.ts';
import { ALICE, type Login, type Replica, SignedInCluster } from '../../../../support/oauth/signed-in.ts';

describe('the userinfo endpoint', () => {
  let cluster: SignedInCluster;
  let replica: Replica;
  let login: Login;
  let endpoint: OAuthEndpoint;

  beforeEach(async () => {
    cluster = await SignedInCluster.start();
    replica = cluster.replica();
    login = await replica.signIn();
    const { verifier } = replica;
    endpoint = await new OAuthEndpoint(userInfoHandler({ verifier, users: cluster.users })).start();
  });

  afterEach(() => endpoint.close());

  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

  it('responds to GET and POST without caching', async () => {
    for (const method of ['GET', 'POST']) {
      const { status, headers, body } = await endpoint.ask(method, '', bearer(login.access));
      expect(status, method).to.equal(200);
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(body).to.deep.equal({ sub: 'alice', email: 'alice@example.com' });
    }
  });

  it("returns the claims of the token's scopes only, with the current values", async () => {
    const expected: [readonly string[], object][] = [
      [[], {}],
      [['profile'], { preferred_username: 'alice', name: 'Alice' }],
      [['groups'], { groups: ['developers'] }],
      [
        ['openid', 'profile', 'email', 'groups'],
        { preferred_username: 'alice', name: 'Alice', email: 'alice@example.com', groups: ['developers'] },
      ],
    ];
    for (const [scopes, claims] of expected) {
      const { access } = await replica.signIn('console', scopes);
      const { body } = await endpoint.get('', bearer(access));
      expect(body, scopes.join(' ')).to.deep.equal({ sub: 'alice', ...claims });
    }
    const { access } = await replica.signIn('console', ['profile', 'groups', 'email']);
    cluster.accounts.set('alice', { ...ALICE, displayName: '', groups: [], email: '' });
    const current = { sub: 'alice', preferred_username: 'alice', name: 'alice', groups: [] };
    expect((await endpoint.get('', bearer(access))).body).to.deep.equal(current);
  });

  it('returns a challenge without error code when there is no token', async () => {
    const responses = [
      await endpoint.get(''),
      await endpoint.get('', { Authorization: 'Basic YTpi' }),
      await endpoint.get(`?access_token=${login.access}`),
    ];
    for (const { status, headers } of responses) {
      expect(status).to.equal(401);
      expect(headers.get('www-authenticate')).to.equal('Bearer realm="oauth"');
    }
  });

  it('returns invalid_token for everything but a valid access token', async () => {
    const ended = await replica.signIn();
    cluster.shared.objects.delete(ended.session.id);
    for (const token of [ended.access, login.id, login.refresh, `${login.access}=`, 'x', 'a.b.c']) {
      const { status, headers, body } = await endpoint.get('', bearer(token));
      expect(status, token).to.equal(401);
      expect(headers.get('www-authenticate')).to.equal('Bearer realm="oauth", error="invalid_token"');
      expect(body).to.have.property('error', 'invalid_token');
    }
  });

  it('returns 503 when the token cannot be verified', async () => {
    replica.sessions.fresh = false;
    expect((await endpoint.get('', bearer(login.access))).status).to.equal(503);
  });
});
