// Tests programs that share one sign-on in a browser: two instances of oauth2-proxy, and the account page.
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { startOAuth2Proxy } from '../../../hack/identity/oauth2-proxy.ts';
import { type StartedChromium, startChromium } from '../../support/chromium.ts';
import { requireIdentityProgram } from '../../support/identity-program.ts';
import { submitForm } from '../../support/submit-form.ts';
import { until } from '../../support/until.ts';
import { PASSWORD, type Platform } from '../platform.ts';
import { addUser, type RelyingParty, sharedConfigured } from './shared-configured.ts';

const USER = 'robin';
const SIGN_IN = 'Sign in to platform';

describe('programs that share one sign-on', () => {
  const stack = new AsyncDisposableStack();
  let platform: Platform;
  let relyingParties: readonly RelyingParty[];
  let chromium: StartedChromium;
  let page: Page;

  before(async function () {
    await requireIdentityProgram(this, 'oauth2-proxy');
    const configured = await sharedConfigured();
    ({ relyingParties } = configured);
    ({ platform } = configured.gateway);
    await addUser(platform, USER);
    const dir = dirname(await platform.write('relying-parties', ''));
    for (const { client, port } of relyingParties) {
      const issuer = `${platform.server.url}/oauth`;
      const { ca } = platform.controlPlane;
      const proxy = { dir: join(dir, client.id), port, issuer, ca, client, signal: platform.signal };
      stack.use(await startOAuth2Proxy(proxy));
    }
    chromium = await startChromium();
    page = await (await chromium.browser.createBrowserContext()).newPage();
    page.setDefaultTimeout(60_000);
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
});
