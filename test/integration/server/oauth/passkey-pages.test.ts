// Tests of passkeys in a real Chromium with a virtual authenticator, against a replica on a real control plane.
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../../../../hack/browser/chromium.ts';
import { accessibilityProblems } from '../../../support/accessibility.ts';
import { PASSWORD } from '../../../support/oauth/sign-in-state.ts';
import { observeComplaints } from '../../../support/page-complaints.ts';
import { submitForm } from '../../../support/submit-form.ts';
import { VirtualAuthenticator } from '../../../support/virtual-authenticator.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

/** Its members need a second factor. */
const FACTORED = 'factored';

describe('passkeys in Chromium', () => {
  let cluster: OAuthCluster;
  let replica: OAuthReplica;
  let chromium: StartedChromium;
  let page: Page;
  let device: VirtualAuthenticator;
  /** Console messages, for instance violations of the Content Security Policy. */
  const complaints: string[] = [];

  before(async () => {
    cluster = await sharedCluster();
    replica = await cluster.replica({ secondFactor: { groups: [FACTORED] } }, {}, 'localhost');
    for (const name of ['alice', 'bob']) await cluster.addUser(name, PASSWORD);
    await cluster.addUser('carol', PASSWORD, { groups: [FACTORED] });
    // Chromium has no passkeys for a site whose certificate it does not trust.
    chromium = await startChromium(['--ignore-certificate-errors']);
    page = await (await chromium.browser.createBrowserContext()).newPage();
    page.setDefaultTimeout(60_000);
    await observeComplaints(page, ({ text }) => complaints.push(text));
    device = await VirtualAuthenticator.of(page);
  });
  after(async () => {
    await chromium?.[Symbol.asyncDispose]();
    await cluster?.reset();
  });
  beforeEach(async () => {
    complaints.length = 0;
    await page.browserContext().deleteCookie(...(await page.browserContext().cookies()));
  });

  const heading = (): Promise<string> => page.$eval('h1', (element) => String(element.textContent));
  const texts = (selector: string): Promise<string[]> =>
    page.$$eval(selector, (elements) => elements.map((element) => String(element.textContent)));
  const open = (path: string) => page.goto(new URL(path, replica.issuer).href);
  const press = (selector: string) => Promise.all([page.waitForNavigation(), page.click(selector)]);

  async function signIn(user: string): Promise<void> {
    await device.setPresent(false);
    await open('/account');
    await submitForm(page, { username: user, password: PASSWORD });
    await device.setPresent(true);
    if ((await heading()) === 'Confirm that it is you') await press('button[data-start]');
    expect(await heading()).to.equal('Your account');
  }
  async function register(name: string): Promise<void> {
    await press('button[name=add]');
    expect(await heading()).to.equal('Add a passkey');
    await page.$eval('#name', (field) => field.setAttribute('value', ''));
    await page.type('#name', name);
    await press('button[data-start]');
  }

  it('are created on the account page, with the name that the user types', async () => {
    await signIn('alice');
    await register('My laptop');
    expect(await texts('[role=status]')).to.deep.equal(['The passkey is added. Try it at the next sign-in.']);
    expect(await texts('#passkeys ~ ul strong')).to.deep.equal(['My laptop']);
    expect(await device.count()).to.equal(1);
    expect(complaints).to.deep.equal([]);
  });

  it('get another name with the keyboard: Enter saves it, and removes nothing', async () => {
    await signIn('alice');
    await page.focus('summary');
    await page.keyboard.press('Enter');
    expect(await accessibilityProblems(page), 'account with the field').to.deep.equal([]);
    await page.focus('#name-0');
    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await page.keyboard.type('Old laptop');
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    expect(await texts('[role=status]')).to.deep.equal(['The passkey has a new name.']);
    expect(await texts('#passkeys ~ ul strong')).to.deep.equal(['Old laptop']);
    expect(complaints).to.deep.equal([]);
  });

  it('are not created twice on one device', async () => {
    await signIn('alice');
    await press('button[name=add]');
    await page.click('button[data-start]');
    await page.waitForSelector('[data-message]:not([hidden])');
    expect(await texts('[data-message]')).to.deep.equal([
      'This device already has a passkey for your account.',
    ]);
    expect(await device.count()).to.equal(1);
  });

  it('are created once by a double click', async () => {
    await signIn('alice');
    await press('button[name=add]');
    await device.setPresent(false);
    await page.evaluate(`
      globalThis.requests = 0;
      const { create } = navigator.credentials;
      navigator.credentials.create = function (options) {
        requests += 1;
        return create.call(this, options);
      };`);
    await page.click('button[data-start]', { count: 2 });
    expect(await page.evaluate('requests')).to.equal(1);
    await device.setPresent(true);
  });

  it('sign the user in with the button, without name and password', async () => {
    await device.setPresent(false);
    await open('/account');
    expect(await heading()).to.equal('Sign in');
    await device.setPresent(true);
    await press('button[data-start]');
    expect(await heading()).to.equal('Your account');
    expect(await texts('dd')).to.include('alice');
    expect(complaints).to.deep.equal([]);
  });

  it('are the second step after the password', async () => {
    await device.setPresent(false);
    await open('/account');
    await submitForm(page, { username: 'alice', password: PASSWORD });
    expect(await heading()).to.equal('Confirm that it is you');
    expect(await accessibilityProblems(page)).to.deep.equal([]);
    await device.setPresent(true);
    await press('button[data-start]');
    expect(await heading()).to.equal('Your account');
    expect(complaints).to.deep.equal([]);
  });

  it('have pages for people with disabilities, narrow and wide, in both color schemes', async () => {
    await signIn('alice');
    expect(await accessibilityProblems(page), 'account').to.deep.equal([]);
    await press('button[name=add]');
    expect(await accessibilityProblems(page), 'new passkey').to.deep.equal([]);
    await device.setPresent(false);
    await page.browserContext().deleteCookie(...(await page.browserContext().cookies()));
    await open('/account');
    expect(await accessibilityProblems(page), 'sign-in').to.deep.equal([]);
    await device.setPresent(true);
  });

  it('are offered by the autofill of the user name', async () => {
    await open('/account');
    // The virtual device chooses the passkey as soon as the page offers it.
    await page.waitForFunction("document.querySelector('h1')?.textContent === 'Your account'");
    expect(await texts('dd')).to.include('alice');
  });

  /** Runs last, because the device then has a passkey of another user. */
  it('are added at a sign-in by a user who needs a second factor', async () => {
    await device.setPresent(false);
    await open('/account');
    await submitForm(page, { username: 'carol', password: PASSWORD });
    expect(await heading()).to.equal('Add an authenticator app');
    expect(await accessibilityProblems(page), 'new app').to.deep.equal([]);
    await press('button[value=passkey]');
    expect(await heading()).to.equal('Add a passkey');
    expect(await accessibilityProblems(page), 'new passkey').to.deep.equal([]);
    await device.setPresent(true);
    await press('button[data-start]');
    expect(await heading()).to.equal('Save your recovery codes');
    await press('main button');
    expect(await heading()).to.equal('Your account');
    expect(await texts('#passkeys ~ ul strong')).to.have.length(1);
    expect(complaints).to.deep.equal([]);
  });
});
