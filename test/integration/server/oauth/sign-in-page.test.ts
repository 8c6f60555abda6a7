// Tests of the sign-in page in a real Chromium: keyboard only, without scripts, and with both color schemes.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { CDPSession, Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../../../support/chromium.ts';
import { lowContrasts } from '../../../support/contrast.ts';
import { newClient } from '../../../support/oauth/oauth-clients.ts';
import { SignInSite } from '../../../support/oauth/sign-in-site.ts';
import { PASSWORD, SiteState, VERIFIER } from '../../../support/oauth/sign-in-state.ts';
import { authorizePath, REQUEST } from '../../../support/oauth/sign-in-visit.ts';

describe('the sign-in page in Chromium', function () {
  this.timeout(120_000);
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
    client.listen(0, '127.0.0.1');
    await once(client, 'listening');
    callback = `http://127.0.0.1:${(client.address() as AddressInfo).port}/callback`;
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
    tools.on('Log.entryAdded', ({ entry }) => complaints.push(entry.text));
    await tools.send('Log.enable');
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
    const end = performance.now() + 30_000;
    let seen = await focused();
    while (seen !== id && performance.now() < end) seen = await focused();
    expect(seen).to.equal(id);
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
    const { status } = await site.token({
      grant_type: 'authorization_code',
      client_id: 'cli',
      code: searchParams.get('code') ?? '',
      redirect_uri: callback,
      code_verifier: VERIFIER,
    });
    return status;
  }

  it('signs in by keyboard, also after a wrong password', async () => {
    await open();
    await page.keyboard.type('alice');
    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong');
    await enter();
    expect(await page.title()).to.equal('Error: Sign in to Acme <Cloud>');
    await focusOn('password');
    await page.keyboard.type(PASSWORD);
    await enter();
    expect(page.url()).to.match(/^http:\/\/127\.0\.0\.1:\d+\/callback\?code=pac_/);
    expect(await exchange()).to.equal(200);
    expect(complaints.filter((text) => !text.includes('status of 400'))).to.deep.equal([]);
  });

  it('follows a redirect of the client to another address', async () => {
    const onward = callback.replace('127.0.0.1', 'localhost');
    const redirect = `${callback}?to=${encodeURIComponent(onward)}`;
    state.clients.push(newClient('broker', { redirectURIs: [redirect], isPublic: true }));
    await open({ client_id: 'broker', redirect_uri: redirect });
    await page.keyboard.type('alice');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await enter();
    expect(page.url()).to.equal(onward);
    await state.add('somebody', { mustChange: true });
    await open({ client_id: 'broker', redirect_uri: redirect, login_hint: 'somebody' }, 'password');
    await page.keyboard.type(PASSWORD);
    await enter();
    await focusOn('new-password');
    await page.keyboard.type('a password of my own');
    await page.keyboard.press('Tab');
    await page.keyboard.type('a password of my own');
    await enter();
    expect(page.url()).to.equal(onward);
    expect(complaints).to.deep.equal([]);
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
    await page.keyboard.type('alice');
    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong');
    await enter();
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
    await page.keyboard.type(PASSWORD);
    await enter();
    expect(await page.title()).to.equal('Choose a new password');
    await focusOn('new-password');
    // The user name for a password manager.
    expect(
      await page.$eval('input[autocomplete="username"]', (field) => [field.type, field.value]),
    ).to.deep.equal(['text', 'newcomer']);
    await page.keyboard.type('abababab');
    await page.keyboard.press('Tab');
    await page.keyboard.type('abababab');
    await enter();
    const { nodes } = await tools.send('Accessibility.getFullAXTree');
    const said = nodes.find(({ name }) => name?.value === 'New password')?.description?.value as unknown;
    expect(said).to.match(/^The new password must have .* characters\. At least 8 characters/);
    await focusOn('new-password');
    await page.keyboard.type('a password of my own');
    await page.keyboard.press('Tab');
    await page.keyboard.type('a password of my own');
    await enter();
    expect(await exchange()).to.equal(200);
  });

  for (const scheme of ['light', 'dark'] as const) {
    it(`has enough contrast in a ${scheme} scheme`, async () => {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await open();
      await page.keyboard.type('alice');
      await page.keyboard.press('Tab');
      await page.keyboard.type('wrong');
      await enter();
      const ground = luminance(await colorOf('main', 'backgroundColor'));
      if (scheme === 'light') expect(ground).to.be.greaterThan(0.8);
      else expect(ground).to.be.lessThan(0.1);
      expect(await lowContrasts(page)).to.deep.equal([]);
      const typed = luminance(await colorOf('input#username', 'color'));
      expect(contrast(typed, luminance(await colorOf('input#username', 'backgroundColor')))).to.be.at.least(
        4.5,
      );
      const border = luminance(await colorOf('input#username', 'borderTopColor'));
      // WCAG 2.2, 1.4.11.
      expect(contrast(border, ground), 'the border of a field').to.be.at.least(3);
    });
  }

  it('fits a narrow screen without horizontal scrolling', async () => {
    await page.setViewport({ width: 320, height: 640 });
    const scope = 'https://example.com/scopes/of-somebody-who-likes-long-names-without-any-space';
    state.clients.push(
      newClient('long', {
        displayName: 'Verwaltungsoberflächenanwendungsplattformdienst',
        redirectURIs: [`https://${'department.'.repeat(12)}example.com/callback`],
        isPublic: true,
        scopes: [scope],
      }),
    );
    for (const changes of [
      {},
      { client_id: 'long', redirect_uri: `https://${'department.'.repeat(12)}example.com/callback`, scope },
    ]) {
      await open(changes);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
    }
  });

  it('does not appear in a frame of another page', async () => {
    await page.setContent(`<iframe src="${site.origin}${authorizePath()}"></iframe>`);
    const frame = await page.waitForFrame((candidate) => candidate !== page.mainFrame());
    expect(await frame.content()).not.to.contain('password');
  });

  async function colorOf(selector: string, property: string): Promise<string> {
    const script = `getComputedStyle(document.querySelector('${selector}')).${property}`;
    return (await page.evaluate(script)) as string;
  }
});

/** WCAG 2.2: relative luminance of an opaque colour as browsers write one. */
function luminance(color: string): number {
  const match = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color);
  if (!match) throw new Error(`not an opaque colour: ${color}`);
  const [red = 0, green = 0, blue = 0] = match.slice(1).map((part) => {
    const value = Number(part) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: number, b: number): number {
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
