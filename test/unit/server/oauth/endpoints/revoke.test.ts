// Tests of the revocation endpoint.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { newRefreshToken } from '../../../../../server/oauth/sessions/session-creator.ts';
import { basic, type EndpointResponse, serveEachTest } from '../../../../support/oauth/oauth-endpoint.ts';
import { credentialsOf } from '../../../../support/oauth/signed-in.ts';

describe('the revocation endpoint', () => {
  const at = serveEachTest('/oauth/revoke');

  const revoke = (token: string, more: Readonly<Record<string, string>> = {}): Promise<EndpointResponse> =>
    at.post({ token, ...credentialsOf('console'), ...more });
  const isKept = () => at.cluster.state.sessions.objects.has(at.login.session.id);

  it('terminates the session of any of its tokens, also a used one, and ignores a wrong token_type_hint', async () => {
    for (const [token_type_hint, part] of [
      ['access_token', 'refresh'],
      ['refresh_token', 'access'],
      ['anything', 'access'],
    ] as const) {
      const other = await at.replica.signIn();
      expect(await revoke(other[part], { token_type_hint })).to.include({ status: 200 });
      expect(at.cluster.state.sessions.objects.has(other.session.id)).to.equal(false);
    }
    await at.replica.refresh(at.login.refresh);
    const response = await revoke(at.login.refresh);
    expect(response).to.include({ status: 200, body: '' });
    expect(response.headers.get('cache-control')).to.equal('no-store');
    expect(isKept()).to.equal(false);
    expect(await (await at.cluster.replica()).accepts(at.login.access)).to.equal(false);
  });

  it('returns 200 for an unknown, forged or expired token', async () => {
    expect(await revoke(newRefreshToken(at.login.session.id, randomBytes).text)).to.include({ status: 200 });
    expect(isKept(), 'a forged token that names the session').to.equal(true);
    await revoke(at.login.access);
    for (const token of [at.login.access, at.login.refresh, 'x', 'prt_x', 'a.b.c', `${at.login.access}x`]) {
      expect(await revoke(token), token).to.include({ status: 200, body: '' });
    }
  });

  it('returns unsupported_token_type for an ID token', async () => {
    const response = await revoke(at.login.id);
    expect(response.status).to.equal(400);
    expect(response.body).to.have.property('error', 'unsupported_token_type');
    expect(isKept()).to.equal(true);
    expect(await revoke(`${at.login.id}x`)).to.include({ status: 200 });
  });

  it('rejects a token of another client and leaves it valid', async () => {
    for (const token of [at.login.access, at.login.refresh]) {
      const response = await at.post({ token }, basic('other', 'secret of other'));
      expect(response.status).to.equal(400);
      expect(response.body).to.have.property('error', 'invalid_grant');
    }
    expect(isKept()).to.equal(true);
    expect(await at.replica.accepts(at.login.access)).to.equal(true);
  });

  it('accepts public clients, and rejects other clients without their secret', async () => {
    expect(await at.post({ token: at.login.refresh })).to.include({ status: 401 });
    expect(await revoke(at.login.refresh, { client_secret: 'wrong' })).to.include({ status: 401 });
    const own = await at.replica.signIn('terminal');
    expect(await at.post({ token: own.refresh, client_id: 'terminal' })).to.include({ status: 200 });
    expect(at.cluster.state.sessions.objects.has(own.session.id)).to.equal(false);
    expect(await at.post({ token: at.login.refresh, client_id: 'terminal' })).to.include({
      status: 400,
    });
    expect(isKept()).to.equal(true);
  });

  async function expectUnavailable(token: string): Promise<void> {
    const { status, headers, body } = await revoke(token);
    expect([status, headers.get('retry-after')]).to.deep.equal([503, '1']);
    expect(body).to.have.property('error', 'temporarily_unavailable');
    expect(isKept()).to.equal(true);
  }

  it('returns 503 when the session cannot be terminated', async () => {
    at.replica.site.store.beforeWrite = () => {
      throw newServiceUnavailable('not now');
    };
    await expectUnavailable(at.login.refresh);
  });

  it('terminates the session of a refresh token while the cache is stale, and returns 503 for an access token', async () => {
    at.replica.site.store.fresh = false;
    await expectUnavailable(at.login.access);
    expect(await revoke(newRefreshToken(at.login.session.id, randomBytes).text)).to.include({ status: 200 });
    expect(isKept(), 'a forged token that names the session').to.equal(true);
    expect(await revoke(at.login.refresh)).to.include({ status: 200 });
    expect(isKept()).to.equal(false);
  });

  it('requires a token', async () => {
    const { status, body } = await at.post(credentialsOf('console'));
    expect([status, body]).to.deep.equal([
      400,
      { error: 'invalid_request', error_description: 'token is missing' },
    ]);
  });
});
