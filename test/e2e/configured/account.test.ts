// Tests of the account page in a real browser, against a real server: keyboard only, without scripts.
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../../../hack/browser/chromium.ts';
import { observeComplaints } from '../../support/page-complaints.ts';
import { submitForm } from '../../support/submit-form.ts';
import { PASSWORD, type Platform } from '../platform.ts';
import { addUser, CLIENT, sharedConfigured } from './shared-configured.ts';

const USER = 'paige';
const NEW_PASSWORD = 'a password of my own';

describe('the account page in a browser', () => {
  let platform: Platform;
  let chromium: StartedChromium;
  let page: Page;
  /** Console messages, for instance violations of the Content Security Policy. */
  const complaints: string[] = [];

  before(async () => {
    ({ platform } = (await sharedConfigured()).gateway);
    await addUser(platform, USER, { groups: ['developers'] });
    chromium = await startChromium();
  });
  after(() => chromium?.[Symbol.asyncDispose]());

  beforeEach(async () => {
    await platform.succeeding('delete sessions.iam.platform.io --all');
    page = await (await chromium.browser.createBrowserContext()).newPage();
    page.setDefaultTimeout(60_000);
    await page.setJavaScriptEnabled(false);
    complaints.length = 0;
    await observeComplaints(page, ({ text }) => complaints.push(text));
  });
  afterEach(() => page.browserContext().close());

  const heading = (): Promise<string> => page.$eval('h1', (element) => String(element.textContent));
  const texts = (selector: string): Promise<string[]> =>
    page.$$eval(selector, (elements) => elements.map((element) => String(element.textContent)));

  async function open(password = PASSWORD): Promise<void> {
    await page.goto(`${platform.server.url}/account`);
    await submitForm(page, { username: USER, password });
    expect(await heading()).to.equal('Your account');
  }
  async function signInElsewhere(password = PASSWORD): Promise<string> {
    const form = { grant_type: 'password', username: USER, password, client_id: CLIENT };
    const body = new URLSearchParams(form);
    const answer = await platform.ask('/oauth/token', { method: 'POST', body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return String(answer.body['access_token']);
  }
  const isValid = async (token: string): Promise<boolean> => {
    const headers = { authorization: `Bearer ${token}` };
    return (await platform.ask('/oauth/userinfo', { headers })).status === 200;
  };
  /** Moves the focus with the keyboard to the element with this name, and presses Enter. */
  async function press(name: string): Promise<void> {
    const focused = (): Promise<string> =>
      page.evaluate('document.activeElement.textContent') as Promise<string>;
    for (let step = 0; step < 30 && (await focused()) !== name; step++) await page.keyboard.press('Tab');
    expect(await focused()).to.equal(name);
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  }

  it('shows the user and the groups; programs that open the address of the server get a Status', async () => {
    await open();
    expect(await texts('dd')).to.include.members([USER, 'developers']);
    const { status, body } = await platform.ask('/');
    expect([status, body['kind']]).to.deep.equal([403, 'Status']);
    expect(complaints).to.deep.equal([]);
  });

  it('ends a session of another program by keyboard, at once', async () => {
    const token = await signInElsewhere();
    expect(await isValid(token)).to.equal(true);
    await open();
    expect(await texts('[aria-labelledby=sessions] strong')).to.deep.equal(['This browser', CLIENT]);
    await press('Sign out');
    expect(await texts('[role=status]')).to.deep.equal(['Signed out.']);
    expect(await texts('[aria-labelledby=sessions] strong')).to.deep.equal(['This browser']);
    expect(await isValid(token)).to.equal(false);
    expect(complaints).to.deep.equal([]);
  });

  it('changes the password, ends all other sessions, and stays signed in until the sign-out', async () => {
    const token = await signInElsewhere();
    await open();
    await submitForm(page, { password: PASSWORD, 'new-password': NEW_PASSWORD, repeated: NEW_PASSWORD });
    expect((await texts('[role=status]')).join('')).to.contain('Your password is changed.');
    expect(await isValid(token)).to.equal(false);
    await page.reload();
    expect(await heading()).to.equal('Your account');
    await press('Sign out of this browser');
    expect(await heading()).to.equal('Signed out');
    await page.goto(`${platform.server.url}/account`);
    expect(await heading()).to.equal('Sign in');
    expect(await isValid(await signInElsewhere(NEW_PASSWORD))).to.equal(true);
    expect(complaints).to.deep.equal([]);
  });
});
