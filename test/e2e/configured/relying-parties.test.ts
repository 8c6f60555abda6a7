// Tests programs that share one sign-on in a browser: two instances of oauth2-proxy, Apache with mod_auth_openidc, and
// the account page.
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../../../hack/browser/chromium.ts';
import { provideApache, startApache } from '../../../hack/identity/apache.ts';
import { startOAuth2Proxy } from '../../../hack/identity/oauth2-proxy.ts';
import { requireGoProgram, requireProgram } from '../../support/required-program.ts';
import { submitForm } from '../../support/submit-form.ts';
import { until } from '../../support/until.ts';
import { PASSWORD, type Platform } from '../platform.ts';
import { addUser, type RelyingParty, sharedConfigured } from './shared-configured.ts';

const USER = 'robin';
const GROUP = 'readers';
/** Index of Apache among the programs. */
const APACHE = 2;
const SIGN_IN = 'Sign in to platform';

describe('programs that share one sign-on', () => {
  const stack = new AsyncDisposableStack();
  let platform: Platform;
  let relyingParties: readonly RelyingParty[];
  let chromium: StartedChromium;
  let page: Page;

  before(async function () {
    await requireGoProgram(this, 'oauth2-proxy');
    await requireProgram(this, 'Apache', provideApache);
    const configured = await sharedConfigured();
    ({ relyingParties } = configured);
    ({ platform } = configured.gateway);
    await addUser(platform, USER, { groups: [GROUP] });
    const dir = dirname(await platform.write('relying-parties', ''));
    for (const [index, { client, port }] of relyingParties.entries()) {
      const issuer = `${platform.server.url}/oauth`;
      const { ca } = platform.controlPlane;
      const options = { port, issuer, ca, client, signal: platform.signal };
      stack.use(
        index === APACHE
          ? await startApache({ ...options, group: GROUP })
          : await startOAuth2Proxy({ ...options, dir: join(dir, client.id) }),
      );
    }
    chromium = await startChromium();
    page = await (await chromium.browser.createBrowserContext()).newPage();
    page.setDefaultTimeout(60_000);
    // Apache sends a static page without Cache-Control, so the browser would show it again without a request.
    await page.setCacheEnabled(false);
  });
  after(async () => {
    await chromium?.[Symbol.asyncDispose]();
    await stack.disposeAsync();
  });

  const addressOf = (index: number): string => `http://127.0.0.1:${relyingParties[index]?.port}`;
  /** Opens a program. Returns the title of a page of the issuer, or the text of the program. */
  async function opened(index: number, path = '/'): Promise<string> {
    await page.goto(addressOf(index) + path);
    const isProgram = new URL(page.url()).origin === addressOf(index);
    return isProgram ? String(await page.evaluate('document.body.textContent')) : page.title();
  }

  it('ask for the password once, and all again after a sign-out at one of them', async () => {
    expect(await opened(0)).to.equal(SIGN_IN);
    await submitForm(page, { username: USER, password: PASSWORD });
    expect(await opened(0)).to.contain('Authenticated');
    // The server asks, because any program of the machine can listen at a loopback address, but not for a password.
    expect(await opened(1)).to.equal('Continue with your account');
    await Promise.all([page.waitForNavigation(), page.click('button[name=account]')]);
    expect(await opened(1)).to.contain('Authenticated');
    await page.goto(`${platform.server.url}/account`);
    expect(await page.$eval('h1', (element) => String(element.textContent))).to.equal('Your account');
    expect(await opened(0, '/oauth2/sign_out?rd=/')).to.equal(SIGN_IN);
    // Its session ends at the next refresh.
    await until(async () => (await opened(1)) === SIGN_IN);
    await page.goto(`${platform.server.url}/account`);
    expect(await page.title()).to.equal(SIGN_IN);
  });

  it('get user and groups in Apache, until the session ends there or here', async () => {
    expect(await opened(APACHE)).to.equal(SIGN_IN);
    await submitForm(page, { username: USER, password: PASSWORD });
    const member = await page.goto(`${addressOf(APACHE)}/group`);
    expect(member?.status()).to.equal(200);
    expect(member?.headers()).to.include({ 'remote-user': USER, 'remote-groups': GROUP });
    const other = await page.goto(`${addressOf(APACHE)}/other-group`);
    expect(other?.status()).to.equal(401);
    const back = encodeURIComponent(`${addressOf(APACHE)}/`);
    // Apache revokes its tokens before it sends the browser.
    expect(await opened(APACHE, `/oauth2/callback?logout=${back}`)).to.equal(SIGN_IN);
    await submitForm(page, { username: USER, password: PASSWORD });
    expect(await opened(APACHE)).to.equal('a page of Apache');
    await platform.succeeding('delete sessions.iam.platform.io --all');
    // Apache learns it at its next refresh.
    await until(async () => (await opened(APACHE)) === SIGN_IN);
  });
});
