// Tests of the linked accounts on the account page. test/integration has the same with a provider and a cluster.
import { expect } from 'chai';
import { SignInSite } from '../../../../../support/oauth/sign-in-site.ts';
import { PASSWORD, SiteState } from '../../../../../support/oauth/sign-in-state.ts';
import { SiteBrowser } from '../../../../../support/oauth/site-browser.ts';
import { expectPage } from '../../../../../support/oauth/site-request.ts';

const PATH = '/account/identities';
const IDENTITY = { name: 'i-1', provider: 'Acme <ID>', displayName: 'alice <a>', linkedAt: 0 };

describe('linked accounts on the account page', () => {
  let state: SiteState;
  let site: SignInSite;
  let browser: SiteBrowser;
  const unlinked: string[] = [];
  /** Whether the person was asked to authenticate again, of each redirect to the provider. */
  const sent: unknown[] = [];
  before(async () => {
    state = await SiteState.make();
    state.links = {
      ...state.links,
      of: () => [IDENTITY],
      unlink: async (name, user) => {
        unlinked.push(`${name} of ${user.name}`);
        return name === 'i-last' ? 'last way to sign in' : 'unlinked';
      },
    };
    state.redirects = {
      ...state.redirects,
      choices: [{ name: 'company', displayName: 'Company <account>', problem: undefined }],
      begin: async (provider, { again }) => {
        sent.push([provider, again]);
        return new URL('https://login.example.com/authorize');
      },
    };
    site = await SignInSite.start(state);
  });
  after(() => site.close());
  beforeEach(async () => {
    unlinked.length = 0;
    sent.length = 0;
    browser = new SiteBrowser(site);
    await browser.ask('/account');
    await browser.submit({ username: 'alice', password: PASSWORD });
    await browser.ask('/account');
  });
  const change = (form: Record<string, string>, headers = {}) => browser.submitTo(PATH, form, headers);

  it('are listed as text, with a button for each provider that leads to it', async () => {
    expect(browser.page).to.contain('Acme &lt;ID&gt;').and.contain('alice &lt;a&gt;');
    expect(browser.page).to.contain('Link Company &lt;account&gt;');
    const { status, headers } = await change({ link: 'company' });
    expect([status, headers.location]).to.deep.equal([303, 'https://login.example.com/authorize']);
    expect(sent, 'with a new sign-in there').to.deep.equal([['company', true]]);
  });

  it('are unlinked, but not the last way to sign in', async () => {
    const { headers } = await change({ unlink: 'i-1' });
    expect(headers.location).to.equal('/account?user=alice&done=unlinked');
    await browser.ask(String(headers.location));
    expect(browser.page).to.contain('The account is unlinked.');
    expectPage(await change({ unlink: 'i-last' }), 400, 'You could not sign in without this account.');
    expect(unlinked).to.deep.equal(['i-1 of alice', 'i-last of alice']);
  });

  it('are changed only ten minutes after a sign-in, then the user signs in again, also at a provider', async () => {
    const { page } = browser;
    state.now += 10 * 60_000;
    for (const form of [{ link: 'company' }, { unlink: 'i-1' }] as const) {
      browser.page = page;
      expectPage(await change(form), 400, 'Sign in again to change');
    }
    expect([unlinked, sent]).to.deep.equal([[], []]);
    await browser.submit({ provider: 'company' });
    expect(sent).to.deep.equal([['company', true]]);
    browser.page = page;
    await change({ unlink: 'i-1' });
    const { headers } = await browser.submit({ username: 'alice', password: PASSWORD });
    await browser.ask(String(headers.location));
    await change({ unlink: 'i-1' });
    expect(unlinked).to.deep.equal(['i-1 of alice']);
  });

  it('are not changed by forms of other sites, of other browsers, or without a ticket', async () => {
    const stranger = new SiteBrowser(site);
    await stranger.ask('/account');
    stranger.page = browser.page;
    const refused = [
      await change({ unlink: 'i-1' }, { 'sec-fetch-site': 'cross-site' }),
      await browser.ask(PATH, { form: { unlink: 'i-1' } }),
      await browser.ask(PATH, { form: { unlink: 'i-1', ticket: 'x.y' } }),
    ];
    expect(refused.map(({ status }) => status)).to.deep.equal([403, 403, 403]);
    await stranger.submitTo(PATH, { link: 'company' });
    expect([unlinked, sent]).to.deep.equal([[], []]);
  });
});
