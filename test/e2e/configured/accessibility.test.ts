// Tests every page of the authorization server with axe-core, on narrow and wide screens, in both color schemes.
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../../../hack/browser/chromium.ts';
import { accessibilityProblems } from '../../support/accessibility.ts';
import { authorizationQuery } from '../../support/oauth/authorization-query.ts';
import { codeOf, secretOn } from '../../support/oauth/second-factors.ts';
import { submitForm } from '../../support/submit-form.ts';
import { until } from '../../support/until.ts';
import { PASSWORD, type Platform } from '../platform.ts';
import { addUser, CLIENT, FACTORED_GROUP, PERSON, sharedConfigured } from './shared-configured.ts';

const USER = 'axel';

describe('the pages of the authorization server, for people with disabilities', () => {
  let platform: Platform;
  let chromium: StartedChromium;
  let page: Page;

  before(async () => {
    ({ platform } = (await sharedConfigured()).gateway);
    await addUser(platform, USER, { groups: ['developers'], email: 'axel@example.com' });
    chromium = await startChromium();
  });
  after(() => chromium?.[Symbol.asyncDispose]());

  beforeEach(async () => {
    page = await (await chromium.browser.createBrowserContext()).newPage();
    page.setDefaultTimeout(60_000);
  });
  afterEach(() => page.browserContext().close());

  const open = (path: string) => page.goto(new URL(path, platform.server.url).href);
  const authorize = (changes: Readonly<Record<string, string>> = {}) =>
    open(
      `/oauth/authorize?${authorizationQuery('v'.repeat(43), {
        client_id: CLIENT,
        redirect_uri: 'http://localhost:8000',
        ...changes,
      })}`,
    );
  const signIn = () => submitForm(page, { username: USER, password: PASSWORD });

  /** `title`: of the page, so that another page cannot pass. */
  async function expectAccessible(title: string): Promise<void> {
    expect(await page.title()).to.equal(title);
    expect(await accessibilityProblems(page), title).to.deep.equal([]);
  }

  it('sign-in, also after a wrong password', async () => {
    await authorize();
    await expectAccessible('Sign in to platform');
    await submitForm(page, { username: USER, password: 'wrong' });
    await expectAccessible('Error: Sign in to platform');
  });

  it('a rejected request', async () => {
    await authorize({ client_id: 'none' });
    await expectAccessible('Sign-in cannot continue');
  });

  it('the choice of an account', async () => {
    await open('/account');
    await signIn();
    await authorize({ prompt: 'select_account' });
    await expectAccessible('Continue with your account');
  });

  it('a device', async () => {
    const body = new URLSearchParams({ client_id: CLIENT });
    const { body: device } = await platform.ask('/oauth/device_authorization', { method: 'POST', body });
    await open('/oauth/device');
    await expectAccessible('Connect a device');
    await submitForm(page, { user_code: String(device['user_code']) });
    await expectAccessible('Sign in to platform');
    await signIn();
    await expectAccessible('Device connected');
  });

  it('the choice of a user name at the first sign-in', async () => {
    const person = { username: PERSON, password: `${PERSON}-password` };
    await until(async () => {
      await open('/account');
      await submitForm(page, person);
      return (await page.title()) === 'Choose your user name';
    });
    await expectAccessible('Choose your user name');
    await page.$eval('#name', (field) => Object.assign(field, { value: '' }));
    await submitForm(page, { name: USER });
    await expectAccessible('Error: Choose your user name');
  });

  it('a second factor: a new app, recovery codes, and a code at a sign-in', async () => {
    const user = { username: 'fay', password: PASSWORD };
    await platform.addUser(user.username, PASSWORD, { groups: [FACTORED_GROUP] });
    await until(async () => {
      await open('/account');
      await submitForm(page, user);
      return (await page.title()) === 'Add an authenticator app';
    });
    await expectAccessible('Add an authenticator app');
    // In the dark scheme too, because cameras read dark modules on a light ground only.
    const ground = "getComputedStyle(document.querySelector('.qr')).backgroundColor";
    expect(await page.evaluate(ground)).to.equal('rgb(255, 255, 255)');
    const secret = secretOn(await page.content());
    await submitForm(page, { code: '000000' });
    await expectAccessible('Error: Add an authenticator app');
    await submitForm(page, { code: codeOf(secret, Date.now()) });
    await expectAccessible('Save your recovery codes');
    await Promise.all([page.waitForNavigation(), page.click('main button')]);
    await expectAccessible('Your account at platform');
    const context = page.browserContext();
    await context.deleteCookie(...(await context.cookies()));
    await open('/account');
    await submitForm(page, user);
    await expectAccessible('Confirm that it is you');
  });

  it('the change of a password that an administrator has set', async () => {
    const user = { username: 'fred', password: PASSWORD };
    await platform.addUser(user.username);
    await platform.succeeding('patch credential fred --type=merge -p {"spec":{"mustChange":true}}');
    await until(async () => {
      await open('/account');
      await submitForm(page, user);
      return (await page.title()) === 'Choose a new password';
    });
    await expectAccessible('Choose a new password');
    await submitForm(page, { 'new-password': `new ${PASSWORD}`, repeated: 'another' });
    await expectAccessible('Error: Choose a new password');
  });

  it('the return to a program by a form', async () => {
    // The program does not respond, so that the page stays.
    await page.setRequestInterception(true);
    const program = 'http://localhost:8000';
    page.on('request', (request) => {
      void (request.url().startsWith(program) ? request.abort('aborted') : request.continue());
    });
    await authorize({ response_mode: 'form_post' });
    await signIn();
    await expectAccessible('Continue to the program');
    expect(await page.$eval('form', (form) => form.getAttribute('action'))).to.equal(program);
  });

  it('the link to an account of a directory', async () => {
    await open('/account');
    await signIn();
    await Promise.all([page.waitForNavigation(), page.click('button[name=link]')]);
    await expectAccessible('Link Company account');
  });

  it('the account, and the sign-out', async () => {
    await open('/account');
    await signIn();
    await expectAccessible('Your account at platform');
    await open('/oauth/logout');
    await expectAccessible('Sign out?');
    await Promise.all([page.waitForNavigation(), page.click('main button')]);
    await expectAccessible('Signed out');
  });
});
