// Tests of the administrator's first sign-in after an installation, with a browser and kubectl.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../../../hack/browser/chromium.ts';
import { closeNow, listenOnLoopback } from '../../support/loopback.ts';
import { authorizationQuery } from '../../support/oauth/authorization-query.ts';
import { submitForm } from '../../support/submit-form.ts';
import { until } from '../../support/until.ts';
import { PLATFORM_CLIENT, type Platform } from '../platform.ts';
import { sharedPlatform } from '../shared-platform.ts';

const NEW_PASSWORD = 'a password of my own';

const isForSignInPage = (body: object): boolean => JSON.stringify(body).includes('sign-in page');

describe('the first sign-in', () => {
  let platform: Platform;
  let chromium: StartedChromium;
  let program: Server;
  let redirectURI: string;
  let page: Page;

  before(async () => {
    platform = await sharedPlatform();
    chromium = await startChromium();
    page = await chromium.browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.setJavaScriptEnabled(false);
    program = createServer((_request, response) => response.end('signed in'));
    redirectURI = `http://127.0.0.1:${await listenOnLoopback(program)}/callback`;
  });
  after(async () => {
    await closeNow(program);
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

  /** The generated password, once it is valid: the server creates the Secret first, then the user, then the hash. */
  async function madePassword(): Promise<string> {
    await platform.succeeding('wait --for=create --timeout=60s credentials.iam.platform.io/admin');
    const secret = 'get secret -n platform-system ks-apiserver-admin -o jsonpath={.data.password}';
    return Buffer.from(await platform.succeeding(secret), 'base64').toString();
  }

  async function signIn(password: string): Promise<string> {
    const verifier = randomBytes(32).toString('base64url');
    const query = authorizationQuery(verifier, { client_id: 'platform', redirect_uri: redirectURI });
    await page.goto(`${origin()}/oauth/authorize?${query}`);
    await submitForm(page, { username: 'admin', password });
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

  const kubectl = (token: string, ...args: string[]): Promise<string> =>
    platform.succeeding(...platform.flags(token), ...args);

  it('needs the password in the Secret, which only the sign-in page accepts', async () => {
    const password = await madePassword();
    expect(password).to.match(/^[\w-]{24}$/);
    await platform.succeeding('wait user/admin --for=jsonpath={.spec.groups[0]}=platform-admins');
    await platform.succeeding('wait credential/admin --for=jsonpath={.spec.mustChange}=true');
    // The server may not have synced the credential yet.
    await until(async () => {
      const { status, body } = await platform.grant('admin', password);
      return [status, body['error']].join() === '400,invalid_grant' && isForSignInPage(body);
    });
    const log = await readFile(platform.server.logFile, 'utf8');
    expect(log).to.include('platform-system/ks-apiserver-admin').and.not.include(password);
  });

  it('requires a new password, then grants cluster administration', async () => {
    const verifier = await signIn(await madePassword());
    expect(await page.title()).to.equal('Choose a new password');
    await submitForm(page, { 'new-password': NEW_PASSWORD, repeated: NEW_PASSWORD });
    const token = await tokenOf(verifier);
    await platform.accepted(token);
    const who = await kubectl(token, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo}');
    expect(JSON.parse(who)).to.deep.include({ username: 'admin' });
    expect(await kubectl(token, 'auth', 'can-i', '*', '*', '--all-namespaces')).to.equal('yes\n');
  });

  it('rejects the initial password afterwards', async () => {
    const browser = page.browserContext();
    await browser.deleteCookie(...(await browser.cookies()));
    await signIn(await madePassword());
    expect(await page.title()).to.equal('Error: Sign in to platform');
    const verifier = await signIn(NEW_PASSWORD);
    expect(await tokenOf(verifier)).to.match(/^eyJ/);
  });
});
