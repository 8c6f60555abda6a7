// Tests of the revocation endpoint.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { IDTokenHints } from '../../../../../server/oauth/endpoints/presented-tokens.ts';
import { revocationHandler } from '../../../../../server/oauth/endpoints/revoke.ts';
import { newRefreshToken } from '../../../../../server/oauth/sessions/session-creator.ts';
import { basic, type EndpointResponse, OAuthEndpoint } from '../../../../support/oauth/oauth-endpoint.ts';
import {
  ISSUER,
  type Login,
  log,
  type Replica,
  SECRET,
  SignedInCluster,
} from '../../../../support/oauth/signed-in.ts';

describe('the revocation endpoint', () => {
  let cluster: SignedInCluster;
  let replica: Replica;
  let login: Login;
  let endpoint: OAuthEndpoint;

  beforeEach(async () => {
    cluster = await SignedInCluster.start();
    replica = cluster.replica();
    login = await replica.signIn();
    const { tokens, sessions } = replica;
    const hints = new IDTokenHints({ keys: cluster.keys, issuer: () => ISSUER });
    endpoint = await new OAuthEndpoint(
      revocationHandler({ clients: cluster.registry, tokens, hints, sessions, log }),
    ).start();
  });

  afterEach(() => endpoint.close());

  const credentials = { client_id: 'console', client_secret: SECRET };
  const revoke = (token: string, more: Readonly<Record<string, string>> = {}): Promise<EndpointResponse> =>
    endpoint.post({ token, ...credentials, ...more });
  const isKept = () => cluster.shared.objects.has(login.session.id);

  it('terminates the session of any of its tokens, also a used one, and ignores a wrong token_type_hint', async () => {
    for (const [token_type_hint, part] of [
      ['access_token', 'refresh'],
      ['refresh_token', 'access'],
      ['anything', 'access'],
    ] as const) {
      const other = await replica.signIn();
      expect(await revoke(other[part], { token_type_hint })).to.include({ status: 200 });
      expect(cluster.shared.objects.has(other.session.id)).to.equal(false);
    }
    await replica.refresh(login.refresh);
    const response = await revoke(login.refresh);
    expect(response).to.include({ status: 200, body: '' });
    expect(response.headers.get('cache-control')).to.equal('no-store');
    expect(isKept()).to.equal(false);
    expect(await cluster.replica().accepts(login.access)).to.equal(false);
  });

  it('returns 200 for an unknown, forged or expired token', async () => {
    expect(await revoke(newRefreshToken(login.session.id, randomBytes).text)).to.include({ status: 200 });
    expect(isKept(), 'a forged token that names the session').to.equal(true);
    await revoke(login.access);
    for (const token of [login.access, login.refresh, 'x', 'prt_x', 'a.b.c', `${login.access}x`]) {
      expect(await revoke(token), token).to.include({ status: 200, body: '' });
    }
  });

  it('returns unsupported_token_type for an ID token', async () => {
    const response = await revoke(login.id);
    expect(response.status).to.equal(400);
    expect(response.body).to.have.property('error', 'unsupported_token_type');
    expect(isKept()).to.equal(true);
    expect(await revoke(`${login.id}x`)).to.include({ status: 200 });
  });

  it('rejects a token of another client and leaves it valid', async () => {
    for (const token of [login.access, login.refresh]) {
      const response = await endpoint.post({ token }, basic('other', SECRET));
      expect(response.status).to.equal(400);
      expect(response.body).to.have.property('error', 'invalid_grant');
    }
    expect(isKept()).to.equal(true);
    expect(await replica.accepts(login.access)).to.equal(true);
  });

  it('accepts public clients, and rejects other clients without their secret', async () => {
    expect(await endpoint.post({ token: login.refresh })).to.include({ status: 401 });
    expect(await revoke(login.refresh, { client_secret: 'wrong' })).to.include({ status: 401 });
    const own = await replica.signIn('terminal');
    expect(await endpoint.post({ token: own.refresh, client_id: 'terminal' })).to.include({ status: 200 });
    expect(cluster.shared.objects.has(own.session.id)).to.equal(false);
    expect(await endpoint.post({ token: login.refresh, client_id: 'terminal' })).to.include({ status: 400 });
    expect(isKept()).to.equal(true);
  });

  async function expectUnavailable(token: string): Promise<void> {
    const { status, headers, body } = await revoke(token);
    expect([status, headers.get('retry-after')]).to.deep.equal([503, '1']);
    expect(body).to.have.property('error', 'temporarily_unavailable');
    expect(isKept()).to.equal(true);
  }

  it('returns 503 when the session cannot be terminated', async () => {
    replica.sessions.beforeWrite = () => {
      throw newServiceUnavailable('not now');
    };
    await expectUnavailable(login.refresh);
  });

  it('terminates the session of a refresh token while the cache is stale, and returns 503 for an access token', async () => {
    replica.sessions.fresh = false;
    await expectUnavailable(login.access);
    expect(await revoke(login.refresh)).to.include({ status: 200 });
    expect(isKept()).to.equal(false);
  });

  it('requires a token', async () => {
    const { status, body } = await endpoint.post(credentials);
    expect([status, body]).to.deep.equal([
      400,
      { error: 'invalid_request', error_description: 'token is missing' },
    ]);
  });
});
