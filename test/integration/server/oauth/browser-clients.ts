// Tests of the authorization code flow and the device flow, with openid-client and a real Chromium.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import * as openid from 'openid-client';
import type { Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../../../support/chromium.ts';
import { until } from '../../../support/until.ts';
import { kubectl as kubectlOf } from '../../hack/control-plane/programs.ts';
import { type OAuthCluster, type OAuthReplica } from './oauth-cluster.ts';

const PASSWORD = 'correct horse battery staple';

export function describeBrowserClients(subject: () => OAuthCluster): void {
  describe('OpenID Connect clients with the sign-in page', () => {
    let cluster: OAuthCluster;
    let a: OAuthReplica;
    let b: OAuthReplica;
    let chromium: StartedChromium;
    let callback: Server;
    let redirectURI: string;
    let config: openid.Configuration;
    let page: Page;

    before(async () => {
      cluster = subject();
      // The user signs in at replica a, and the client requests its tokens from replica b.
      a = await cluster.replica();
      b = await cluster.replica();
      await cluster.addUser('alice', PASSWORD, { email: 'alice@example.com', groups: ['developers'] });
      callback = createServer((_request, response) => response.end('signed in'));
      callback.listen(0, '127.0.0.1');
      await once(callback, 'listening');
      redirectURI = `http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback`;
      config = await openid.discovery(new URL(a.issuer), 'platform', 'platform', undefined, {
        [openid.customFetch]: b.fetch,
      });
      config[openid.customFetch] = b.fetch;
      chromium = await startChromium();
    });

    after(async () => {
      await chromium?.[Symbol.asyncDispose]();
      callback?.closeAllConnections();
      callback?.close();
      await cluster.reset();
    });

    beforeEach(async () => {
      page = await (await chromium.browser.createBrowserContext()).newPage();
      await page.setJavaScriptEnabled(false);
    });
    afterEach(() => page.browserContext().close());

    const kubectl = (...args: string[]): Promise<string> => kubectlOf(cluster.controlPlane, ...args);

    /** Types name and password into the focused fields. */
    async function signIn(): Promise<void> {
      await page.waitForSelector('#username');
      await page.focus('#username');
      await page.keyboard.type('alice');
      await page.keyboard.press('Tab');
      await page.keyboard.type(PASSWORD);
      await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    }

    interface Request {
      readonly url: URL;
      readonly checks: openid.AuthorizationCodeGrantChecks & { readonly pkceCodeVerifier: string };
    }

    async function request(): Promise<Request> {
      const pkceCodeVerifier = openid.randomPKCECodeVerifier();
      const expectedState = openid.randomState();
      const expectedNonce = openid.randomNonce();
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectURI,
        scope: 'openid email groups',
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        state: expectedState,
        nonce: expectedNonce,
      });
      return { url, checks: { pkceCodeVerifier, expectedState, expectedNonce } };
    }

    it('get tokens for a code, with all their checks', async () => {
      const { url, checks } = await request();
      await page.goto(url.href);
      await signIn();
      const tokens = await openid.authorizationCodeGrant(config, new URL(page.url()), checks);
      expect(tokens.claims()).to.include({ sub: 'alice', email: 'alice@example.com', aud: 'platform' });
      const info = await openid.fetchUserInfo(config, tokens.access_token, 'alice');
      expect(info.email).to.equal('alice@example.com');
      const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
      expect(next.access_token).not.to.equal(tokens.access_token);
      const sid = sessionOf(tokens);
      expect(await kubectl('get', 'session', sid, '-o', 'jsonpath={.spec.user} {.spec.userAgent}')).to.match(
        /^alice Mozilla\/5\.0 .*Chrome/,
      );
    });

    it('sign in a device without browser', async () => {
      const device = await openid.initiateDeviceAuthorization(config, { scope: 'openid' });
      const waiting = openid.pollDeviceAuthorizationGrant(config, device);
      await page.goto(device.verification_uri);
      await page.waitForSelector('#user_code');
      await page.focus('#user_code');
      await untilKnown(device.user_code);
      await page.keyboard.type(device.user_code.toLowerCase());
      await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
      expect(await page.content())
        .to.contain(device.user_code)
        .and.to.contain('127.0.0.1');
      await signIn();
      expect(await page.title()).to.equal('Device connected');
      const tokens = await waiting;
      expect(tokens.claims()).to.include({ sub: 'alice', aud: 'platform' });
      const listed = await kubectl('get', 'sessions', '-o', 'jsonpath={.items[*].spec.user}');
      expect(listed.split(' ')).not.to.include('-');
    });

    /** Replica b creates the request; the user is at a, which receives it by watch. */
    async function untilKnown(userCode: string): Promise<void> {
      const ask = () => a.send('GET', `${a.address}/device?user_code=${userCode}`);
      await until(async () => (await ask()).status === 200);
    }
  });
}

function sessionOf(tokens: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers): string {
  const sid = tokens.claims()?.['sid'];
  if (typeof sid !== 'string') throw new Error('the id token names no session');
  return sid;
}
