// Tests of the sign-in page in a real Chromium: keyboard only, without scripts, and with both color schemes.
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import type { CDPSession, Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../../../../hack/browser/chromium.ts';
import { contrastOf, lowContrasts } from '../../../support/contrast.ts';
import { listenOnLoopback } from '../../../support/loopback.ts';
import { newConfiguredClient } from '../../../support/oauth/oauth-clients.ts';
import { SignInSite } from '../../../support/oauth/sign-in-site.ts';
import { PASSWORD, REDIRECT, SiteState } from '../../../support/oauth/sign-in-state.ts';
import { authorizePath, EXCHANGE, REQUEST } from '../../../support/oauth/sign-in-visit.ts';
import { observeComplaints } from '../../../support/page-complaints.ts';
import { submitForm } from '../../../support/submit-form.ts';
import { until } from '../../../support/until.ts';

describe('the sign-in page in Chromium', () => {
  let state: SiteState;
  let site: SignInSite;
  let chromium: StartedChromium;
  let client: Server;
  let callback: string;
  let page: Page;
  let tools: CDPSession;
  /** Console messages, for instance violations of the Content Security Policy. */
  const complaints: string[] = [];

  before(async () => {
    state = await SiteState.make();
    site = await SignInSite.start(state);
    client = createServer((request, response) => {
      // Redirects to another address, as some clients and identity brokers do.
      const onward = new URL(request.url ?? '', callback).searchParams.get('to');
      if (onward === null) response.end('signed in');
      else response.writeHead(302, { Location: onward }).end();
    });
    callback = `http://127.0.0.1:${await listenOnLoopback(client)}/callback`;
    chromium = await startChromium();
  });

  after(async () => {
    await chromium?.[Symbol.asyncDispose]();
    client.closeAllConnections();
    client.close();
    await site.close();
  });

  beforeEach(async () => {
    const context = await chromium.browser.createBrowserContext();
    page = await context.newPage();
    await page.setJavaScriptEnabled(false);
    tools = await page.createCDPSession();
    complaints.length = 0;
    await observeComplaints(page, ({ text }) => complaints.push(text));
  });

  afterEach(async () => {
    await page.browserContext().close();
  });

  /** Opens the page and waits for the focus, which browsers set after rendering. */
  async function open(changes: Record<string, string> = {}, focus = 'username'): Promise<void> {
    await page.goto(site.origin + authorizePath({ client_id: 'cli', redirect_uri: callback, ...changes }));
    await focusOn(focus);
  }

  async function focusOn(id: string): Promise<void> {
    await until(async () => (await focused()) === id);
  }

  /** Types into the focused field and the next ones, and submits the form. */
  async function fill(...texts: string[]): Promise<void> {
    for (const [index, text] of texts.entries()) {
      if (index > 0) await page.keyboard.press('Tab');
      await page.keyboard.type(text);
    }
    await enter();
  }

  /** Presses Enter and waits for the next page. */
  async function enter(): Promise<void> {
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  }

  const focused = (): Promise<string> =>
    page.evaluate('document.activeElement.id || document.activeElement.textContent') as Promise<string>;

  async function exchange(): Promise<number> {
    const { searchParams } = new URL(page.url());
    expect(searchParams.get('state')).to.equal(REQUEST['state']);
    const code = searchParams.get('code') ?? '';
    return (await site.token({ ...EXCHANGE, client_id: 'cli', redirect_uri: callback, code })).status;
  }

  it('signs in by keyboard, also after a wrong password', async () => {
    await open();
    await fill('alice', 'wrong');
    expect(await page.title()).to.equal('Error: Sign in to Acme <Cloud>');
    await focusOn('password');
    await fill(PASSWORD);
    expect(page.url()).to.match(/^http:\/\/127\.0\.0\.1:\d+\/callback\?code=pac_/);
    expect(await exchange()).to.equal(200);
    expect(complaints.filter((text) => !text.includes('status of 400'))).to.deep.equal([]);
  });

  it('follows a redirect of the client to another address', async () => {
    const onward = callback.replace('127.0.0.1', 'localhost');
    const redirect = `${callback}?to=${encodeURIComponent(onward)}`;
    state.clients.push(newConfiguredClient('broker', { redirectURIs: [redirect], isPublic: true }));
    await open({ client_id: 'broker', redirect_uri: redirect });
    await fill('alice', PASSWORD);
    expect(page.url()).to.equal(onward);
    await state.add('somebody', { mustChange: true });
    await open(
      { client_id: 'broker', redirect_uri: redirect, login_hint: 'somebody', prompt: 'login' },
      'password',
    );
    await fill(PASSWORD);
    await focusOn('new-password');
    await fill('a password of my own', 'a password of my own');
    expect(page.url()).to.equal(onward);
    expect(complaints).to.deep.equal([]);
  });

  it('continues with the account of the browser by keyboard, with enough contrast and on a narrow screen', async () => {
    await open();
    await fill('alice', PASSWORD);
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await page.setViewport({ width: 320, height: 640 });
      await page.goto(site.origin + authorizePath({ client_id: 'cli', redirect_uri: callback }));
      expect(await page.title()).to.equal('Continue with your account');
      expect(await lowContrasts(page)).to.deep.equal([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
    }
    const way: string[] = [];
    for (let step = 0; step < 3; step++) {
      await page.keyboard.press('Tab');
      way.push(await focused());
    }
    expect(way).to.deep.equal(['Continue as alice', 'Use another account', 'Cancel']);
    await page.goto(`${site.origin}/oauth/logout`);
    expect(await page.title()).to.equal('Sign out?');
    expect(await lowContrasts(page)).to.deep.equal([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
    await page.goBack();
    await page.focus('button[name="account"]');
    await enter();
    expect(await exchange()).to.equal(200);
    expect(complaints).to.deep.equal([]);
  });

  it('signs on without a page from another site, also with a form of that site', async () => {
    await open();
    await fill('alice', PASSWORD);
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      const isClient = request.url().startsWith(`${REDIRECT}?`);
      void (isClient ? request.respond({ body: 'signed on' }) : request.continue());
    });
    const link = site.origin + authorizePath();
    const fields = Object.entries(REQUEST).map(([name, value]) => `<input name="${name}" value="${value}">`);
    const form = `<form method="post" action="${site.origin}/oauth/authorize">${fields.join('')}`;
    for (const content of [
      `<a href="${link.replaceAll('&', '&amp;')}">x</a>`,
      `${form}<button>x</button></form>`,
    ]) {
      await page.goto(callback);
      await page.setContent(content);
      await page.focus('a, button');
      await enter();
      expect(new URL(page.url()).searchParams.get('code'), page.url()).to.match(/^pac_/);
    }
  });

  it('has its fields in tab order, and a cancel that returns to the client', async () => {
    await open();
    const way = [await focused()];
    for (let step = 0; step < 3; step++) {
      await page.keyboard.press('Tab');
      way.push(await focused());
    }
    expect(way).to.deep.equal(['username', 'password', 'Sign in', 'Cancel']);
    await enter();
    expect(new URL(page.url()).searchParams.get('error')).to.equal('access_denied');
  });

  it('describes fields and errors to a screen reader', async () => {
    await open();
    await fill('alice', 'wrong');
    const { nodes } = await tools.send('Accessibility.getFullAXTree');
    const said = nodes
      .filter(({ ignored }) => !ignored)
      .map(({ role, name, description }) => [role?.value, name?.value, description?.value ?? ''] as const);
    const all = (role: string) => said.filter(([value]) => value === role);
    expect(all('RootWebArea')[0]?.[1]).to.equal('Error: Sign in to Acme <Cloud>');
    expect(all('main')).to.have.length(1);
    expect(all('heading')[0]?.[1]).to.equal('Sign in');
    expect(all('alert')).to.have.length(1);
    expect(all('textbox').map(([, name, description]) => [name, description])).to.deep.equal([
      ['User name', ''],
      ['Password', 'User name or password is wrong.'],
    ]);
    expect(all('button').map(([, name]) => name)).to.deep.equal(['Sign in', 'Cancel']);
  });

  it('changes a password that must be changed, by keyboard', async () => {
    await state.add('newcomer', { mustChange: true });
    await open({ login_hint: 'newcomer' }, 'password');
    await fill(PASSWORD);
    expect(await page.title()).to.equal('Choose a new password');
    await focusOn('new-password');
    // The user name for a password manager.
    expect(
      await page.$eval('input[autocomplete="username"]', (field) => [field.type, field.value]),
    ).to.deep.equal(['text', 'newcomer']);
    await fill('abababab', 'abababab');
    const { nodes } = await tools.send('Accessibility.getFullAXTree');
    const said: unknown = nodes.find(({ name }) => name?.value === 'New password')?.description?.value;
    expect(said).to.match(/^The new password must have .* characters\. At least 8 characters/);
    await focusOn('new-password');
    await fill('a password of my own', 'a password of my own');
    expect(await exchange()).to.equal(200);
  });

  for (const scheme of ['light', 'dark'] as const) {
    it(`has enough contrast in a ${scheme} scheme`, async () => {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await open();
      await fill('alice', 'wrong');
      const ground = await page.evaluate("getComputedStyle(document.querySelector('main')).backgroundColor");
      expect(Number(/\d+/.exec(String(ground))?.[0]) > 128).to.equal(scheme === 'light');
      expect(await lowContrasts(page)).to.deep.equal([]);
      expect(await contrastOf(page, '#username', 'color')).to.be.at.least(4.5);
      // WCAG 2.2, 1.4.11.
      expect(await contrastOf(page, '#username', 'borderTopColor'), 'the border').to.be.at.least(3);
    });
  }

  it('fits a narrow screen without horizontal scrolling', async () => {
    await page.setViewport({ width: 320, height: 640 });
    const scope = 'https://example.com/scopes/of-somebody-who-likes-long-names-without-any-space';
    const redirect_uri = `https://${'department.'.repeat(12)}example.com/callback`;
    state.clients.push(
      newConfiguredClient('long', {
        displayName: 'Verwaltungsoberflächenanwendungsplattformdienst',
        redirectURIs: [redirect_uri],
        isPublic: true,
        scopes: [scope],
      }),
    );
    for (const changes of [{}, { client_id: 'long', redirect_uri, scope }]) {
      await open(changes);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
    }
  });

  /** Opens a pop-up from a page of the client. */
  async function popUp(path: string): Promise<Page> {
    await page.setJavaScriptEnabled(true);
    await page.goto(callback);
    const opened = new Promise<Page | null>((resolve) => page.once('popup', resolve));
    await page.evaluate(`void open(${JSON.stringify(site.origin + path)}, '', 'popup')`);
    const popup = await opened;
    if (!popup) throw new Error('the pop-up did not open');
    await popup.waitForSelector('#password');
    return popup;
  }

  it('works in a pop-up of a program, whose callback page then has the window that opened it', async () => {
    const popup = await popUp(authorizePath({ client_id: 'cli', redirect_uri: callback }));
    await submitForm(popup, { username: 'alice', password: PASSWORD });
    expect(popup.url()).to.contain('/callback?code=');
    expect(await popup.evaluate('opener.location.pathname')).to.equal('/callback');
  });

  it('of the account page is out of reach of a page that opened it', async () => {
    const popup = await popUp('/account');
    expect(await popup.evaluate('opener')).to.equal(null);
  });

  it('has a page of this server beside it for a mistyped address', async () => {
    for (const path of ['/account/pasword', '/oauth/autorize', '/oauth/', '/account/passkeys/x']) {
      expect((await page.goto(site.origin + path))?.status(), path).to.equal(404);
      expect(await page.title(), path).to.equal('Page not found');
    }
  });

  it('does not appear in a frame of another page', async () => {
    await page.setContent(`<iframe src="${site.origin}${authorizePath()}"></iframe>`);
    const frame = await page.waitForFrame((candidate) => candidate !== page.mainFrame());
    expect(await frame.content()).not.to.contain('password');
  });
});
