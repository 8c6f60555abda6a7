// Tests of back-channel logout with a real kube-apiserver, and a client that is a server over TLS.
import type { Server } from 'node:http';
import { createServer } from 'node:https';
import { text as bodyOf } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect } from 'chai';
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, jwtVerify } from 'jose';
import { text } from '../../../../apis/reading/unknown-value.ts';
import { closeNow, listenOnLoopback, portOf } from '../../../support/loopback.ts';
import { sentBack } from '../../../support/oauth/sign-in-visit.ts';
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import { until } from '../../../support/until.ts';
import { kubectl } from '../../hack/control-plane/programs.ts';
import { exchange, REDIRECT } from './console-tokens.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const PASSWORD = 'a password of alice';
const BYE = 'https://console.example.com/bye';
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

interface Received {
  readonly type: string | undefined;
  readonly token: string;
}

describe('back-channel logout', () => {
  let cluster: OAuthCluster;
  let replica: OAuthReplica;
  let client: Server;
  let received: Received[];
  let statuses: number[];
  const trusted = getCACertificates('default');

  before(async () => {
    cluster = await sharedCluster();
    const { pki } = cluster.controlPlane;
    const tls = await pki.cluster.issueServer({ cn: 'client' }, { dns: [], ip: ['127.0.0.1'] });
    client = createServer(tls, (request, response) => {
      void bodyOf(request).then((body) => {
        received.push({
          type: request.headers['content-type'],
          token: new URLSearchParams(body).get('logout_token') ?? '',
        });
        const status = statuses.shift() ?? 200;
        response
          .writeHead(status, status === 302 ? { Location: '/elsewhere' } : {})
          .end('ignored'.repeat(10_000));
      });
    });
    await listenOnLoopback(client);
    setDefaultCACertificates([...trusted, cluster.controlPlane.ca]);
    const uri = `https://127.0.0.1:${portOf(client)}/logout?tenant=1`;
    replica = await cluster.replica({
      clients: [
        {
          id: 'console',
          public: true,
          redirectURIs: [REDIRECT],
          postLogoutRedirectURIs: [BYE],
          backchannelLogoutURI: uri,
        },
      ],
    });
    await cluster.addUser('alice', PASSWORD);
  });
  after(async () => {
    setDefaultCACertificates(trusted);
    await closeNow(client);
    await cluster.reset();
  });
  beforeEach(() => {
    received = [];
    statuses = [];
  });

  /** Signs in, and returns the `sid` of the ID token. */
  const signIn = async (): Promise<string> =>
    text((await verified(await idTokenOf(new SiteBrowser(replica))))['sid']);
  async function idTokenOf(browser: SiteBrowser): Promise<string> {
    await browser.authorize();
    const response = await browser.submit({ username: 'alice', password: PASSWORD });
    return text((await exchange(replica, response))['id_token']);
  }
  async function verified(token: string): Promise<Record<string, unknown>> {
    const fetchKeys = (url: string): Promise<Response> =>
      replica.fetch(url, { method: 'GET', headers: {}, body: null, redirect: 'manual' });
    const keys = createRemoteJWKSet(new URL(`${replica.issuer}/keys`), { [customFetch]: fetchKeys });
    const { payload } = await jwtVerify(token, keys, { issuer: replica.issuer, audience: 'console' });
    return payload;
  }
  async function claims(count: number): Promise<Record<string, unknown>[]> {
    await until(() => received.length >= count);
    return Promise.all(received.map(({ token }) => verified(token)));
  }
  const deleteSession = (id: string): Promise<string> =>
    kubectl(cluster.controlPlane, 'delete', 'session', id);

  it('sends a logout token when a session ends, also by kubectl', async () => {
    const sid = await signIn();
    await deleteSession(sid);
    const [token] = await claims(1);
    expect(token)
      .to.include({ sub: 'alice', sid })
      .and.to.have.all.keys('iss', 'sub', 'aud', 'iat', 'exp', 'jti', 'sid', 'events');
    expect(token?.['events']).to.deep.equal({ [EVENT]: {} });
    expect(Number(token?.['exp']) - Number(token?.['iat'])).to.be.within(1, 120);
    expect(decodeProtectedHeader(received[0]?.token ?? '')).to.include({ typ: 'logout+jwt', alg: 'ES256' });
    expect(received[0]?.type).to.equal('application/x-www-form-urlencoded');
  });

  it('repeats a failed notification with a new token, and follows no redirect', async () => {
    statuses = [429, 302];
    const sid = await signIn();
    await deleteSession(sid);
    const [first, second] = await claims(2);
    expect([first?.['sid'], second?.['sid']]).to.deep.equal([sid, sid]);
    expect(first?.['jti']).to.not.equal(second?.['jti']);
    const next = await signIn();
    await deleteSession(next);
    expect((await claims(3)).map((token) => token['sid'])).to.deep.equal([sid, sid, next]);
  });

  it('sends the next notification while a failed one waits', async () => {
    statuses = [503];
    const [one, two] = [await signIn(), await signIn()];
    await kubectl(cluster.controlPlane, 'delete', 'sessions', one, two);
    const [first, second, repeated] = (await claims(3)).map((token) => token['sid']);
    expect([first, second]).to.have.members([one, two]);
    expect(repeated).to.equal(first);
  });

  // The modules of the plan of the OpenID Foundation's conformance suite.
  describe('oidcc-backchannel-rp-initiated-logout-certification-test-plan', () => {
    it('oidcc-backchannel-logout-discovery-endpoint-verification', async () => {
      const { text } = await replica.ask('/oauth/.well-known/openid-configuration');
      expect(JSON.parse(text)).to.include({
        backchannel_logout_supported: true,
        backchannel_logout_session_supported: true,
        end_session_endpoint: `${replica.issuer}/logout`,
      });
    });

    it('oidcc-backchannel-rp-initiated-logout: notifies the client, redirects, and ends the sign-on', async () => {
      const browser = new SiteBrowser(replica);
      const id_token_hint = await idTokenOf(browser);
      const { sub, sid } = await verified(id_token_hint);
      const request = { id_token_hint, post_logout_redirect_uri: BYE, state: 'a state' };
      const { status, headers } = await browser.ask(`/oauth/logout?${String(new URLSearchParams(request))}`);
      expect([status, headers.location]).to.deep.equal([303, `${BYE}?state=a+state`]);
      const [token] = await claims(1);
      expect(token)
        .to.deep.include({ sub, sid, events: { [EVENT]: {} } })
        .and.not.have.property('nonce');
      const again = await browser.authorize({ prompt: 'none' });
      expect(sentBack(again).get('error')).to.equal('login_required');
    });
  });
});
