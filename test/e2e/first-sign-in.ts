// Tests of the administrator's first sign-in after an installation, with a browser and kubectl.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../support/chromium.ts';
import { PLATFORM_CLIENT, type Platform } from './platform.ts';

const NEW_PASSWORD = 'a password of my own';

export function describeFirstSignIn(subject: () => Platform): void {
  describe('the first sign-in', () => {
    let platform: Platform;
    let chromium: StartedChromium;
    let program: Server;
    let redirectURI: string;
    let page: Page;

    before(async () => {
      platform = subject();
      chromium = await startChromium();
      page = await chromium.browser.newPage();
      page.setDefaultTimeout(60_000);
      await page.setJavaScriptEnabled(false);
      program = createServer((_request, response) => response.end('signed in'));
      program.listen(0, '127.0.0.1');
      await once(program, 'listening');
      redirectURI = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
    });
    after(async () => {
      program?.closeAllConnections();
      program?.close();
      await chromium?.[Symbol.asyncDispose]();
    });

    const origin = (): string => platform.server.url;

    async function post(
      path: string,
      form: Readonly<Record<string, string>>,
    ): Promise<Readonly<Record<string, unknown>>> {
      const sent = new URLSearchParams({ ...PLATFORM_CLIENT, ...form });
      const { status, body } = await platform.ask(path, { method: 'POST', body: sent });
      expect(status, JSON.stringify(body)).to.equal(200);
      return body;
    }

    /** Types into a field. */
    async function fill(id: string, text: string): Promise<void> {
      await page.focus(`#${id}`);
      await page.keyboard.type(text);
    }
    const enter = () => Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);

    /** The generated password, once it is valid: the server creates the Secret first, then the user, then the hash. */
    async function madePassword(): Promise<string> {
      const signal = AbortSignal.timeout(60_000);
      const wait = ['wait', '--for=create', '--timeout=60s'];
      await platform.succeeding(...wait, 'credentials.iam.platform.io/admin');
      for (;;) {
        const { code, stdout } = await platform.kubectl(
          'get',
          'secret',
          '-n',
          'platform-system',
          'ks-apiserver-admin',
          '-o',
          'jsonpath={.data.password}',
        );
        if (code === 0 && stdout !== '') return Buffer.from(stdout, 'base64').toString();
        await delay(200, undefined, { signal });
      }
    }

    async function signIn(password: string): Promise<string> {
      const verifier = randomBytes(32).toString('base64url');
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: 'platform',
        redirect_uri: redirectURI,
        scope: 'openid',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      });
      await page.goto(`${origin()}/oauth/authorize?${query.toString()}`);
      await fill('username', 'admin');
      await fill('password', password);
      await enter();
      return verifier;
    }

    async function tokenOf(verifier: string): Promise<string> {
      const answer = await post('/oauth/token', {
        grant_type: 'authorization_code',
        code: new URL(page.url()).searchParams.get('code') ?? '',
        redirect_uri: redirectURI,
        code_verifier: verifier,
      });
      return String(answer['access_token']);
    }

    /** Runs kubectl with the token, and retries until kube-apiserver has fetched the issuer's keys. */
    async function kubectl(token: string, ...args: string[]): Promise<string> {
      const signal = AbortSignal.timeout(60_000);
      for (;;) {
        const output = await platform.kubectl(...platform.flags(token), ...args);
        if (output.code === 0) return output.stdout;
        if (!/Unauthorized|logged in/.test(output.stderr)) throw new Error(output.stderr);
        await delay(200, undefined, { signal });
      }
    }

    it('needs the password in the Secret, which only the sign-in page accepts', async () => {
      const password = await madePassword();
      expect(password).to.match(/^[\w-]{24}$/);
      await platform.succeeding('wait', 'user/admin', '--for=jsonpath={.spec.groups[0]}=platform-admins');
      await platform.succeeding('wait', 'credential/admin', '--for=jsonpath={.spec.mustChange}=true');
      let answer = await platform.grant('admin', password);
      const signal = AbortSignal.timeout(60_000);
      // The server may not have synced the credential yet.
      while (!JSON.stringify(answer).includes('sign-in page')) {
        await delay(200, undefined, { signal });
        answer = await platform.grant('admin', password);
      }
      expect([answer.status, answer.body['error']]).to.deep.equal([400, 'invalid_grant']);
      const log = await readFile(platform.server.logFile, 'utf8');
      expect(log).to.include('platform-system/ks-apiserver-admin').and.not.include(password);
    });

    it('requires a new password, then grants cluster administration', async () => {
      const verifier = await signIn(await madePassword());
      expect(await page.title()).to.equal('Choose a new password');
      await fill('new-password', NEW_PASSWORD);
      await fill('repeated', NEW_PASSWORD);
      await enter();
      const token = await tokenOf(verifier);
      const who = await kubectl(token, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo}');
      expect(JSON.parse(who)).to.deep.include({ username: 'admin' });
      expect(await kubectl(token, 'auth', 'can-i', '*', '*', '--all-namespaces')).to.equal('yes\n');
    });

    it('rejects the initial password afterwards', async () => {
      await signIn(await madePassword());
      expect(await page.title()).to.equal('Error: Sign in to platform');
      const verifier = await signIn(NEW_PASSWORD);
      expect(await tokenOf(verifier)).to.match(/^eyJ/);
    });

    it('works with the device flow', async () => {
      const device = await post('/oauth/device_authorization', { scope: 'openid' });
      await page.goto(String(device['verification_uri_complete']));
      await fill('username', 'admin');
      await fill('password', NEW_PASSWORD);
      await enter();
      expect(await page.title()).to.equal('Device connected');
      const answer = await post('/oauth/token', {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: String(device['device_code']),
      });
      expect(answer).to.include({ token_type: 'Bearer', scope: 'openid' });
    });
  });
}
