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

  it('terminates the session of a refresh token with its access tokens at every replica', async () => {
    const response = await revoke(login.refresh);
    expect(response).to.include({ status: 200, body: '' });
    expect(response.headers.get('cache-control')).to.equal('no-store');
    expect(isKept()).to.equal(false);
    expect(await cluster.replica().accepts(login.access)).to.equal(false);
    expect(await replica.accepts(login.access)).to.equal(false);
  });

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
    expect(await revoke(login.refresh)).to.include({ status: 200 });
    expect(isKept()).to.equal(false);
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

  it('requires client authentication', async () => {
    const wrong = await endpoint.post({ token: login.refresh }, basic('console', 'wrong'));
    expect(wrong.status).to.equal(401);
    expect(wrong.body).to.have.property('error', 'invalid_client');
    expect(wrong.headers.get('www-authenticate')).to.match(/^Basic /);
    expect(await endpoint.post({ token: login.refresh })).to.include({ status: 401 });
    expect(isKept()).to.equal(true);
  });

  it('accepts public clients', async () => {
    const own = await replica.signIn('terminal');
    expect(await endpoint.post({ token: own.refresh, client_id: 'terminal' })).to.include({ status: 200 });
    expect(cluster.shared.objects.has(own.session.id)).to.equal(false);
    expect(await endpoint.post({ token: login.refresh, client_id: 'terminal' })).to.include({ status: 400 });
    expect(isKept()).to.equal(true);
  });

  it('returns 503 when the session cannot be terminated', async () => {
    replica.sessions.beforeWrite = () => {
      throw newServiceUnavailable('not now');
    };
    const response = await revoke(login.refresh);
    expect(response.status).to.equal(503);
    expect(response.headers.get('retry-after')).to.equal('1');
    expect(response.body).to.have.property('error', 'temporarily_unavailable');
  });

  it('terminates the session of a refresh token while the cache is stale, and returns 503 for an access token', async () => {
    replica.sessions.fresh = false;
    const response = await revoke(login.access);
    expect(response.status).to.equal(503);
    expect(response.headers.get('retry-after')).to.not.equal(null);
    expect(isKept()).to.equal(true);
    expect(await revoke(login.refresh)).to.include({ status: 200 });
    expect(isKept()).to.equal(false);
  });

  it('requires a token, POST and a form', async () => {
    const empty = await endpoint.post(credentials);
    expect(empty.status).to.equal(400);
    expect(empty.body).to.have.property('error', 'invalid_request');
    const get = await endpoint.get(`?token=${login.refresh}&client_id=terminal`);
    expect(get.status).to.equal(405);
    expect(get.headers.get('allow')).to.equal('POST');
    const json = await endpoint.post(JSON.stringify({ token: login.refresh, ...credentials }), {
      'Content-Type': 'application/json',
    });
    expect(json.status).to.equal(415);
    expect(isKept()).to.equal(true);
  });
});
