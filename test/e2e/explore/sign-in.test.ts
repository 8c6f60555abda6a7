// Tests of sign-in and sign-out at the page `/explore`, in a browser: with tokens that expire, and in several tabs.
import { expect } from 'chai';
import type { HTTPRequest } from 'puppeteer-core';
import { submitForm } from '../../support/submit-form.ts';
import { until } from '../../support/until.ts';
import { PASSWORD } from '../platform.ts';
import { CuttableProxy } from './cuttable-proxy.ts';
import { sharedExplore, USERS } from './shared-explore.ts';
import type { Visitor } from './visitor.ts';

describe('the sign-in of /explore', () => {
  let shared: Awaited<ReturnType<typeof sharedExplore>>;
  let visitor: Visitor;

  before(async () => {
    shared = await sharedExplore();
  });
  beforeEach(async () => {
    visitor = await shared.visitor();
  });
  afterEach(async () => {
    await visitor[Symbol.asyncDispose]();
    expect(visitor.complaints).to.deep.equal([]);
  });

  it('leads to the view that was opened, with its query, and leaves no code in the address or the history', async () => {
    const path = '/explore/logs?namespace=shop&last=15m';
    await visitor.signIn(USERS.viewer, path);
    const { pathname, search } = await visitor.address();
    expect(pathname + search).to.equal(path);
    expect(await visitor.text('header')).to.contain(USERS.viewer);
    await visitor.page.goBack();
    expect((await visitor.address()).href).to.not.match(/code=|state=/);
    // The page before the view is that of the sign-in, which is complete.
    expect(await visitor.heading()).to.equal('Overview');
  });

  it('shows nothing of a user who has signed out while the browser kept the page for the Back button', async () => {
    await visitor.signIn(USERS.viewer);
    // Such a page gets no event of the storage. A headless browser keeps no page.
    await visitor.page.evaluate(`
      localStorage.clear();
      dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));`);
    await visitor.sees('You are signed out');
    expect(await visitor.page.$('#view')).to.equal(null);
  });

  it('starts at the address of the server, and rejects a wrong password', async () => {
    await visitor.open('/');
    await visitor.page.waitForSelector('#password');
    await submitForm(visitor.page, { username: USERS.viewer, password: 'wrong' });
    expect(await visitor.page.title()).to.contain('Error');
    await submitForm(visitor.page, { password: PASSWORD });
    expect(await visitor.heading()).to.not.equal('');
    expect((await visitor.address()).href).to.match(/\/explore$/);
  });

  it('is not needed in another tab, and ends in all tabs', async () => {
    await visitor.signIn(USERS.viewer);
    const other = await visitor.tab();
    await visitor.open('/explore/logs', other);
    await visitor.heading(other);
    await visitor.page.bringToFront();
    await visitor.click(USERS.viewer);
    await visitor.click('Sign out');
    await visitor.sees('You are signed out');
    await visitor.sees('You are signed out', other);
    expect(await visitor.page.evaluate('localStorage.length')).to.equal(0);
    await visitor.click('Sign in');
    await visitor.page.waitForSelector('#password');
  });

  it('says why it fails in a browser that blocks cookies and storage', async () => {
    await visitor.page.evaluateOnNewDocument(`
      const get = () => { throw new DOMException('Access is denied', 'SecurityError'); };
      for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(globalThis, name, { get });`);
    await visitor.open('/explore');
    await visitor.sees('Access is denied');
    await visitor.sees('You are not signed in');
  });

  it('cannot be completed by the response to a request of another page', async () => {
    await visitor.open('/explore/callback?code=stolen&state=unknown&iss=https%3A%2F%2Fexample.com');
    await visitor.sees('You are not signed in');
    expect((await visitor.address()).href).to.match(/\/explore\/callback$/);
    expect(await visitor.page.evaluate('localStorage.length')).to.equal(0);
  });

  /** Ends sessions of the viewer at the server. `keepBrowser`: only those of clients. */
  async function endSessions({ keepBrowser }: { readonly keepBrowser: boolean }): Promise<void> {
    const fields = 'jsonpath={range .items[*]}{.metadata.name} {.spec.clientID};{end}';
    const listed = await shared.platform.succeeding('get sessions.iam.platform.io -o', fields);
    const names = listed.split(';').flatMap((line) => {
      const [name = '', client = ''] = line.trim().split(' ');
      return name !== '' && (!keepBrowser || client === 'explore') ? [name] : [];
    });
    await shared.platform.succeeding(`delete sessions.iam.platform.io --ignore-not-found ${names.join(' ')}`);
  }
  const accessToken = (): Promise<unknown> =>
    visitor.page.evaluate('JSON.parse(Object.values(localStorage)[0]).accessToken');

  it('is renewed silently by single sign-on', async () => {
    await visitor.signIn(USERS.viewer);
    await visitor.sees('CrashLoopBackOff');
    const before = await accessToken();
    await endSessions({ keepBrowser: true });
    await until(async () => (await accessToken()) !== before);
    await visitor.sees('Deployments');
    expect(await visitor.text()).to.not.contain('Sign in again');
    expect((await visitor.address()).pathname).to.equal('/explore');
    expect(await visitor.page.$('iframe')).to.equal(null);
  });

  for (const [title, fail] of [
    ['is unavailable', (request) => request.respond({ status: 503, headers: { 'Retry-After': '2' } })],
    ['is busy', (request) => request.respond({ status: 429, headers: { 'Retry-After': '2' } })],
    ['is unreachable', (request) => request.abort('connectionrefused')],
  ] satisfies readonly [string, (request: HTTPRequest) => Promise<void>][]) {
    it(`is renewed after a while, without the user, if the server ${title} at first`, async () => {
      await visitor.signIn(USERS.viewer, '/explore/lists/pods?namespace=shop');
      await visitor.sees('Live');
      const before = await accessToken();
      let isFailing = true;
      await visitor.page.setRequestInterception(true);
      visitor.page.on('request', (request) => {
        void (isFailing && request.url().includes('prompt=none') ? fail(request) : request.continue());
      });
      await endSessions({ keepBrowser: true });
      await visitor.sees(/Next attempt in \d+ s\./);
      expect(await visitor.text()).to.not.contain('expired');
      isFailing = false;
      await until(async () => (await accessToken()) !== before);
      await visitor.sees('Live');
      expect(await visitor.text()).to.not.contain('expired');
    });
  }

  it('expires visibly, keeps the view, and continues there after the next sign-in', async () => {
    const path = '/explore?namespace=shop';
    await visitor.signIn(USERS.viewer, path);
    await visitor.sees('CrashLoopBackOff');
    await endSessions({ keepBrowser: false });
    await visitor.sees('Your sign-in has expired.');
    await visitor.sees('CrashLoopBackOff');
    await visitor.click('Sign in again');
    await visitor.page.waitForSelector('#password');
    await submitForm(visitor.page, { username: USERS.viewer, password: PASSWORD });
    await visitor.sees('CrashLoopBackOff');
    const { pathname, search } = await visitor.address();
    expect(pathname + search).to.equal(path);
  });

  it('calls a list no longer live when its sign-in has expired', async () => {
    await visitor.signIn(USERS.viewer, '/explore/lists/pods?namespace=shop');
    await visitor.sees('Live');
    await endSessions({ keepBrowser: false });
    await visitor.sees('Your sign-in has expired.');
    await visitor.sees('Connecting');
    expect(await visitor.text()).to.not.contain('Live');
  });

  it('stays signed out in a tab whose sign-in had expired, after another tab has signed out', async () => {
    await visitor.signIn(USERS.viewer);
    await visitor.sees('CrashLoopBackOff');
    await endSessions({ keepBrowser: false });
    await visitor.sees('Your sign-in has expired.');
    const other = await visitor.tab();
    await visitor.open('/explore', other);
    await visitor.sees('Your sign-in has expired.', other);
    await visitor.click(USERS.viewer, other);
    await visitor.click('Sign out', other);
    await visitor.page.bringToFront();
    await visitor.sees('You are signed out');
    expect(await visitor.page.$('#view')).to.equal(null);
  });

  it('continues in a tab after the sign-in in another one', async () => {
    await visitor.signIn(USERS.viewer);
    await visitor.sees('CrashLoopBackOff');
    await endSessions({ keepBrowser: false });
    await visitor.sees('Your sign-in has expired.');
    const other = await visitor.tab();
    await visitor.open('/explore', other);
    await visitor.sees('Your sign-in has expired.', other);
    await visitor.click('Sign in again', other);
    await other.waitForSelector('#password');
    await submitForm(other, { username: USERS.viewer, password: PASSWORD });
    await visitor.heading(other);
    await visitor.page.bringToFront();
    await until(async () => !(await visitor.text()).includes('expired'));
  });

  it('stays with a user who has signed in while the renewal of another one was waiting', async () => {
    await visitor.signIn(USERS.viewer);
    await visitor.sees('CrashLoopBackOff');
    const renewal = Promise.withResolvers<HTTPRequest>();
    await visitor.page.setRequestInterception(true);
    visitor.page.on('request', (request) => {
      if (request.url().includes('prompt=none')) renewal.resolve(request);
      else void request.continue();
    });
    await endSessions({ keepBrowser: false });
    const held = await renewal.promise;
    const other = await visitor.tab();
    // As a sign-out in a tab whose requests do not wait for the renewal.
    await visitor.open('/livez', other);
    await other.evaluate('localStorage.clear()');
    await visitor.open('/explore', other);
    await other.waitForSelector('#password');
    await submitForm(other, { username: USERS.tenant, password: PASSWORD });
    await visitor.heading(other);
    await visitor.page.bringToFront();
    await visitor.sees('You may not list: Nodes');
    const ended = visitor.page.waitForFunction('!document.querySelector("iframe")');
    await held.continue();
    await ended;
    await visitor.click('Pods');
    await visitor.sees('Live');
    expect(await visitor.text()).to.not.contain('expired');
    expect(await visitor.text('header')).to.contain(USERS.tenant);
  });

  it('survives a lost connection, which the page shows until it is back', async () => {
    using proxy = await CuttableProxy.start();
    const traveller = await shared.visitor({ proxy: proxy.url });
    try {
      await traveller.signIn(USERS.viewer);
      await traveller.sees('CrashLoopBackOff');
      proxy.cut();
      await traveller.sees(/Connection lost: .*\. Next attempt in \d+ s\./);
      await traveller.sees('CrashLoopBackOff');
      proxy.restore();
      await until(async () => !(await traveller.text()).includes('Connection lost'));
      expect(traveller.complaints).to.deep.equal([]);
    } finally {
      await traveller[Symbol.asyncDispose]();
    }
  });

  it('leads to the address of the issuer', async () => {
    const { server } = shared.platform;
    await visitor.page.goto(`${server.url.replace('127.0.0.1', 'localhost')}/explore`);
    await visitor.sees('This page has another address');
    const link = await visitor.page.$eval('.gate a', (element) => element.getAttribute('href'));
    expect(link).to.equal(`${server.url}/explore`);
  });

  it('is replaced by a token in a server without sign-in, which is not stored', async () => {
    const replica = await shared.platform.startReplica('without-sign-in', { oauth: { enabled: false } });
    const token = await shared.platform.succeeding('create token developer -n platform-system');
    const requested: string[] = [];
    visitor.page.on('request', (request) => requested.push(new URL(request.url()).pathname));
    await visitor.page.goto(`${replica.url}/explore`);
    await visitor.page.waitForSelector('#token');
    // The page knows it without a request, because the server could reject requests of anonymous callers.
    expect(requested.filter((path) => !path.startsWith('/explore'))).to.deep.equal([]);
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
    const paste = async (text: string): Promise<void> => {
      await visitor.page.type('#token', text);
      await visitor.page.keyboard.press('Enter');
    };
    await paste('invalid');
    await visitor.sees('The server rejected the token');
    await paste(token);
    await visitor.sees('CrashLoopBackOff');
    expect(await visitor.page.evaluate('localStorage.length + sessionStorage.length')).to.equal(0);
    await visitor.page.reload();
    await visitor.sees('Use a token');
  });

  it('does not exist, like all files for browsers, with the option explore.enabled: false', async () => {
    const replica = await shared.platform.startReplica('without-explore', { explore: { enabled: false } });
    for (const path of ['/explore', '/explore/logs', '/explore/callback', '/client/v1/index.js']) {
      expect((await visitor.page.goto(`${replica.url}${path}`))?.status(), path).to.equal(404);
    }
    await visitor.page.goto(`${replica.url}/`);
    expect((await visitor.address()).pathname).to.not.contain('explore');
    const query =
      'response_type=code&client_id=explore&redirect_uri=https%3A%2F%2F127.0.0.1%2Fexplore%2Fcallback';
    expect((await visitor.page.goto(`${replica.url}/oauth/authorize?${query}`))?.status()).to.equal(400);
  });
});
