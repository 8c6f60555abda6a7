// Tests how users link people of a directory (OpenLDAP) on the account page, on a real control plane.
import { expect } from 'chai';
import { text } from '../../../../apis/reading/unknown-value.ts';
import { READER, requireDirectory, TestDirectory } from '../../../support/directory/directory.ts';
import { PASSWORD } from '../../../support/oauth/sign-in-state.ts';
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import { expectPage, type SiteResponse } from '../../../support/oauth/site-request.ts';
import { until } from '../../../support/until.ts';
import { directoryProvider } from './company.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const PATH = '/account/identities';
const WRONG = 'User name or password is wrong.';
const LINKED = 'Your account of The &lt;directory&gt; is linked.';

describe('linked accounts of a directory', () => {
  let cluster: OAuthCluster;
  let directory: TestDirectory;
  let server: OAuthReplica;
  let browser: SiteBrowser;

  before(async function () {
    await requireDirectory(this);
    cluster = await sharedCluster();
    directory = await TestDirectory.start();
    for (const name of ['zoe', 'yan', 'victim', 'alice']) await directory.person(name);
    await cluster.addProviderSecret({ bindPassword: READER.password });
    const company = await directoryProvider(cluster, directory);
    const provider = { ...company, name: 'directory', displayName: 'The <directory>', accounts: 'link' };
    server = await cluster.replica({ throttle: { failures: 3 }, identityProviders: [provider] });
    for (const name of ['alice', 'bob']) await cluster.addUser(name, PASSWORD);
  });
  after(async () => {
    await cluster?.reset();
    await directory?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    browser = new SiteBrowser(server);
  });

  /** Signs in, and shows the account page or the response. */
  async function signIn(username: string, password: string): Promise<SiteResponse> {
    browser = new SiteBrowser(server);
    await browser.ask('/account');
    const response = await browser.submit({ username, password });
    return response.status === 303 ? browser.ask(text(response.headers.location)) : response;
  }
  const change = (form: Record<string, string>) => browser.submitTo(PATH, form);
  const prove = (username: string, password: string) =>
    browser.submitTo(PATH, { link: 'directory', decision: 'link', username, password });
  async function open(): Promise<void> {
    expectPage(await change({ link: 'directory' }), 200, 'Link The &lt;directory&gt;');
  }
  const links = async (): Promise<readonly unknown[]> =>
    (await cluster.objects('identities')).map(({ spec }) => spec['user']);

  it('are proven with the password of the directory, sign in as the user, and are unlinked', async () => {
    expectPage(await signIn('zoe', 'zoe-password'), 400, 'is not linked to a user');
    await signIn('bob', PASSWORD);
    await open();
    expect(await links()).to.deep.equal([]);
    const { status, text: page } = await prove('ZOE', 'zoe-password');
    expect([status, page.includes(LINKED)], page).to.deep.equal([200, true]);
    expect(page).to.contain('>Unlink</button>');
    expect((await signIn('zoe', 'zoe-password')).text).to.contain('<dd>bob</dd>');
    const again = await change({ link: 'directory' });
    expect(again.status).to.equal(200);
    expect((await prove('zoe', 'zoe-password')).text).to.contain('already linked to you');
    // Without a local password, this account is the only way to sign in.
    await cluster.delete('credentials/bob');
    await until(() => server.oauth.credentials.get('bob') === undefined);
    await signIn('zoe', 'zoe-password');
    const [, unlink = ''] = /name="unlink" value="([^"]+)"/.exec(browser.page) ?? [];
    expect((await change({ unlink })).text).to.contain('You could not sign in without this account.');
    await open();
    expect((await prove('yan', 'yan-password')).text).to.contain(LINKED);
    expect((await change({ unlink })).text).to.contain('Signed out');
    expect(await links()).to.deep.equal(['bob']);
    await until(async () => (await signIn('zoe', 'zoe-password')).status === 400);
  });

  it('need a new form, the right password, and a person of no other user', async () => {
    await signIn('alice', PASSWORD);
    await open();
    expectPage(await prove('yan', 'yan-password'), 400, 'is linked to another user');
    await open();
    const { page } = browser;
    for (const [user, password] of [
      ['zoe', ''],
      ['', 'x'],
    ] as const) {
      browser.page = page;
      expect((await prove(user, password)).text).to.contain('Enter your');
    }
    browser.page = page;
    expect(
      (await browser.submitTo(PATH, { link: 'directory', decision: 'cancel' })).headers.location,
    ).to.equal('/account?user=alice');
    const stranger = new SiteBrowser(server);
    await stranger.ask('/account');
    stranger.page = page;
    const form = { link: 'directory', decision: 'link', username: 'zoe', password: 'zoe-password' };
    expect((await stranger.submitTo(PATH, form)).status, 'not signed in').to.equal(303);
    const crossSite = { 'sec-fetch-site': 'cross-site' };
    browser.page = page;
    expect((await browser.submitTo(PATH, form, crossSite)).status).to.equal(403);
    expect(await links()).to.deep.equal(['bob']);
  });

  it('are no second way to guess passwords of the directory', async () => {
    await signIn('alice', PASSWORD);
    await open();
    const { page: form } = browser;
    const responses: string[] = [];
    for (const [user, password] of [
      ['nobody', 'x'],
      ['victim', 'x'],
      ['VICTIM ', 'x'],
      ['Victim', 'x'],
    ] as const) {
      browser.page = form;
      const { status, text: page } = await prove(user, password);
      expect([status, page.includes(WRONG)], user).to.deep.equal([400, true]);
      expect(server.audited.at(-1)).to.include({ method: 'account_link', provider: 'directory' });
      responses.push(page.replace(/value="[^"]*"/g, ''));
    }
    expect(new Set(responses).size, 'unknown and known names have one response').to.equal(1);
    browser.page = form;
    const { status, headers } = await prove('victim', 'victim-password');
    expect(status).to.equal(429);
    expect(headers['retry-after']).to.match(/^\d+$/);
    // The failures count at the sign-in page too, and no bind has followed.
    expect((await signIn('victim', 'victim-password')).status).to.equal(429);
    expect(await links()).to.deep.equal(['bob']);
  });

  it('are not linked while the directory is down', async () => {
    await signIn('alice', PASSWORD);
    await open();
    await directory.slapd.stop();
    try {
      expectPage(await prove('zoe', 'zoe-password'), 503, 'cannot be reached at the moment');
    } finally {
      await directory.slapd.start();
    }
  });
});
