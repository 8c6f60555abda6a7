// Tests of the logout endpoint.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../../apis/meta/v1/errors.ts';
import { TokenIssuer } from '../../../../../../server/oauth/tokens/token-issuer.ts';
import { newClient } from '../../../../../support/oauth/oauth-clients.ts';
import { serveEachTest } from '../../../../../support/oauth/oauth-endpoint.ts';
import { ISSUER } from '../../../../../support/oauth/sign-in-site.ts';
import { ALICE } from '../../../../../support/oauth/signed-in.ts';
import { rejection } from '../../../../../support/rejection.ts';

const REGISTERED = 'https://console.example.com/bye?a=%201';

describe('the logout endpoint', () => {
  const at = serveEachTest('/oauth/logout');
  beforeEach(() => at.cluster.configure('console', { postLogoutRedirectURIs: [REGISTERED] }));

  const bearer = () => ({ Authorization: `Bearer ${at.login.access}` });
  const query = (parameters: Readonly<Record<string, string>>): string =>
    `?${new URLSearchParams(parameters).toString()}`;
  const isKept = () => at.cluster.state.sessions.objects.has(at.login.session.id);
  const success = { message: 'success' };

  it('terminates the session of an access token, and no other', async () => {
    const second = await at.replica.signIn();
    const { status, headers, body } = await at.get('', bearer());
    expect({ status, body }).to.deep.equal({ status: 200, body: success });
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(isKept()).to.equal(false);
    expect(await (await at.cluster.replica()).accepts(at.login.access)).to.equal(false);
    expect(await at.replica.accepts(second.access)).to.equal(true);
    expect(await rejection(at.replica.refresh(at.login.refresh))).to.have.property('code', 'invalid_grant');
  });

  it('terminates the session of an ID token by GET and POST, even when expired', async () => {
    await at.get(query({ id_token_hint: at.login.id }));
    expect(isKept()).to.equal(false);
    at.login = await at.replica.signIn();
    at.cluster.state.now += 3 * 3_600_000;
    await at.post({ id_token_hint: at.login.id });
    expect(isKept()).to.equal(false);
  });

  it('terminates the session of an access token that has expired', async () => {
    at.cluster.state.now += 3 * 3_600_000;
    expect(await at.replica.accepts(at.login.access)).to.equal(false);
    expect(await at.get('', bearer())).to.deep.include({ status: 200, body: success });
    expect(isKept()).to.equal(false);
    expect(await rejection(at.replica.refresh(at.login.refresh))).to.have.property('code', 'invalid_grant');
  });

  it('ignores an access token with a forged signature, and any other token in its place', async () => {
    const [header = '', payload = '', signature = ''] = at.login.access.split('.');
    const forged = `${header}.${payload}.${signature.slice(0, -4)}AAAA`;
    for (const token of [forged, `${header}.${payload}.`, at.login.id, at.login.refresh]) {
      await at.get('', { Authorization: `Bearer ${token}` });
      expect(isKept(), token).to.equal(true);
    }
  });

  it('terminates both sessions when access token and ID token differ', async () => {
    const second = await at.replica.signIn();
    await at.get(query({ id_token_hint: second.id }), bearer());
    expect(at.cluster.state.sessions.objects.size).to.equal(0);
  });

  it('ignores an invalid access token beside a hint, and without one', async () => {
    const invalid = { Authorization: 'Bearer x.y.z' };
    expect((await at.get('', invalid)).status).to.equal(400);
    expect(isKept()).to.equal(true);
    const parameters = { id_token_hint: at.login.id, post_logout_redirect_uri: REGISTERED };
    expect((await at.get(query(parameters), invalid)).status).to.equal(303);
    expect(isKept()).to.equal(false);
    expect((await at.get(query(parameters), bearer())).status, 'a terminated session').to.equal(303);
  });

  it('rejects any other token as a hint, without a redirect, and never reports success without a token', async () => {
    const { keys } = at.cluster.state;
    const other = new TokenIssuer({ keys, issuer: () => `${ISSUER}/x`, audience: 'platform' });
    const subject = { client: newClient('console'), account: ALICE, session: at.login.session, scopes: [] };
    const [header = '', payload = '', signature = ''] = at.login.id.split('.');
    const forged = `${header}.${payload}.${signature.slice(0, -4)}AAAA`;
    const hints = [
      at.login.access,
      at.login.refresh,
      forged,
      `${header}.${payload}.`,
      'x',
      other.idToken(subject),
    ];
    const rest = { client_id: 'console', post_logout_redirect_uri: REGISTERED, state: 's' };
    for (const id_token_hint of hints) {
      for (const parameters of [{ id_token_hint }, { id_token_hint, ...rest }]) {
        for (const response of [await at.get(query(parameters)), await at.post(parameters)]) {
          expect(response.status, id_token_hint).to.equal(400);
          expect(response.headers.get('location')).to.equal(null);
          expect(response.body).to.have.property('error', 'invalid_request');
        }
      }
    }
    expect((await at.ask('POST', '')).status).to.equal(400);
    expect(isKept()).to.equal(true);
    // An access token whose audience is the name of the client differs in its type only.
    at.cluster.configure('platform');
    at.login = await at.replica.signIn('platform');
    await at.get(query({ id_token_hint: at.login.access }));
    expect(isKept()).to.equal(true);
  });

  it('shows a page to browsers that says whether a session was terminated', async () => {
    const accept = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const kept of [true, false]) {
      expect(isKept()).to.equal(kept);
      const { headers, body } = await at.get(query({ id_token_hint: at.login.id }), accept);
      expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(body).to.include('<h1>Signed out</h1>');
    }
    expect((await at.get('', accept)).body).to.include('<h1>You are not signed in</h1>');
    for (const header of ['*/*', 'application/json', 'text/plain', 'text/html;q=0, */*']) {
      const hinted = query({ id_token_hint: at.login.id });
      expect((await at.get(hinted, { Accept: header })).body).to.deep.equal(success);
      expect((await at.get('', { Accept: header })).status).to.equal(400);
    }
  });

  it('redirects to a registered URI, unchanged, with the state', async () => {
    const post_logout_redirect_uri = REGISTERED;
    const plain = await at.get(query({ id_token_hint: at.login.id, post_logout_redirect_uri }));
    expect(plain.status).to.equal(303);
    expect(plain.headers.get('location')).to.equal(REGISTERED);
    expect(isKept()).to.equal(false);
    const { headers } = await at.get(
      query({ client_id: 'console', post_logout_redirect_uri, state: 'a&b=c#d' }),
    );
    expect(headers.get('location')).to.equal(`${REGISTERED}&state=a%26b%3Dc%23d`);
  });

  it('redirects for the client of client_id or of the hint only', async () => {
    for (const client of [{}, { client_id: 'other' }]) {
      const { status } = await at.get(query({ ...client, post_logout_redirect_uri: REGISTERED }));
      expect(status).to.equal(400);
    }
    const differing = await at.get(query({ id_token_hint: at.login.id, client_id: 'other' }));
    expect(differing.status).to.equal(400);
    expect(isKept()).to.equal(true);
  });

  it('returns 503 without redirect when the session cannot be terminated', async () => {
    at.replica.site.store.beforeWrite = () => {
      throw newServiceUnavailable('not now');
    };
    const parameters = query({ id_token_hint: at.login.id, post_logout_redirect_uri: REGISTERED });
    for (const response of [await at.get('', bearer()), await at.get(parameters)]) {
      expect(response.status).to.equal(503);
      expect(response.headers.get('retry-after')).to.equal('1');
    }
  });

  it('rejects repeated and malformed parameters', async () => {
    const repeated = `${query({ id_token_hint: at.login.id })}&state=a&state=b`;
    expect((await at.get(repeated)).status).to.equal(400);
    const page = { Accept: 'text/html' };
    expect((await at.get('?ui_locales=a&ui_locales=%zz&x;y&&%&z', page)).status).to.equal(200);
    expect((await at.get('?state=%zz')).status).to.equal(400);
    expect((await at.post('{}', { 'Content-Type': 'application/json' })).status).to.equal(415);
    expect(isKept()).to.equal(true);
  });
});
