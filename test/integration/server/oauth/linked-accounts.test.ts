// Tests how users link and unlink people of an OpenID provider (oidc-provider) on the account page, at two replicas of the authorization
// server on a real control plane.
import { expect } from 'chai';
import { text } from '../../../../apis/reading/unknown-value.ts';
import type { RealOpenIDProvider } from '../../../support/oauth/real-openid-provider.ts';
import { PASSWORD } from '../../../support/oauth/sign-in-state.ts';
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import { expectPage, type SiteResponse } from '../../../support/oauth/site-request.ts';
import { SoftwarePasskey } from '../../../support/oauth/software-passkey.ts';
import { until } from '../../../support/until.ts';
import { chooseCompany, openIDProvider, pathOf, startCompany } from './company.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const LINKED = 'Your account of Company account is linked.';

describe('linked accounts', () => {
  let cluster: OAuthCluster;
  let upstream: RealOpenIDProvider;
  let a: OAuthReplica;
  let b: OAuthReplica;
  let browser: SiteBrowser;

  before(async () => {
    cluster = await sharedCluster();
    ({ upstream, a, b } = await startCompany(cluster, {
      provider: { accounts: 'link' },
      privateKey: 'RS256',
      host: 'localhost',
    }));
    for (const name of ['alice', 'bob']) await cluster.addUser(name, PASSWORD);
    for (const id of ['1', '2', '3']) {
      upstream.people.set(`person-${id}`, { preferred_username: `Person <${id}>` });
    }
  });
  after(async () => {
    await upstream?.[Symbol.asyncDispose]();
    await cluster?.reset();
  });
  beforeEach(() => {
    browser = new SiteBrowser(a);
  });

  const change = (form: Record<string, string>) => browser.submitTo('/account/identities', form);

  /** Signs in with the password, and shows the account page. */
  async function visit(user: string): Promise<void> {
    await browser.ask('/account/switch');
    if (browser.page.includes('value="other"')) await browser.submit({ decision: 'other' });
    const { headers } = await browser.submit({ username: user, password: PASSWORD });
    await browser.ask(text(headers.location));
    expect(browser.page).to.contain('<h1>Your account</h1>').and.contain(user);
  }
  /** Chooses to link an account, and signs in at the provider. Returns the path to which the browser returns. */
  async function confirmed(login: string): Promise<string> {
    const { status, headers, text: page } = await change({ link: 'company' });
    expect(status, page).to.equal(303);
    const start = new URL(text(headers.location));
    expect(start.searchParams.get('prompt')).to.equal('login');
    return pathOf(await upstream.signIn(start, login));
  }
  /** Signs in at the provider; the account page of the user. */
  async function signIn(login: string): Promise<SiteResponse> {
    browser = new SiteBrowser(a);
    await browser.ask('/account');
    const callback = await upstream.signIn(await chooseCompany(browser), login);
    browser.site = b;
    const response = await browser.ask(pathOf(callback));
    return response.status === 303 ? browser.ask(text(response.headers.location)) : response;
  }
  const identityOf = async (subject: string): Promise<string | undefined> =>
    (await cluster.objects('identities')).find(({ spec }) => spec['subject'] === subject)?.name;

  it('sign in as the user, until they are unlinked, which ends their sessions', async () => {
    expectPage(await signIn('person-1'), 400, 'is not linked to a user');
    browser = new SiteBrowser(a);
    await visit('alice');
    const local = browser;
    const callback = await confirmed('person-1');
    browser.site = b;
    const { status, text: page } = await browser.ask(callback);
    expect(status, page).to.equal(200);
    expect(page).to.contain(LINKED).and.contain('Person &lt;1&gt;').and.contain('>Unlink</button>');
    expect((await browser.ask(callback)).status, 'the response is valid once').to.equal(400);

    const { text: own } = await signIn('person-1');
    expect(own).to.contain('alice').and.contain('<dt>Account</dt><dd>Company account</dd>');
    const federated = browser;
    browser = local;
    await browser.ask('/account');
    const { headers } = await change({ unlink: (await identityOf('person-1')) ?? '' });
    expect(headers.location).to.equal('/account?user=alice&done=unlinked');
    expect(await identityOf('person-1')).to.equal(undefined);
    for (const replica of [a, b]) {
      federated.site = replica;
      expect((await federated.ask('/account')).text).to.not.contain('Your account');
    }
    await until(async () => (await signIn('person-1')).status === 400);
    expect((await local.ask('/account')).text).to.contain('Your account');
  });

  it('never belong to two users', async () => {
    await visit('alice');
    expect((await browser.ask(await confirmed('person-2'))).text).to.contain(LINKED);
    browser = new SiteBrowser(b);
    await visit('bob');
    const { status, text: page } = await browser.ask(await confirmed('person-2'));
    expect([status, page.includes('is linked to another user')]).to.deep.equal([400, true]);
    expect(page).to.contain('bob').and.not.contain('Person &lt;2&gt;');
    await change({ unlink: (await identityOf('person-2')) ?? '' });
    expect(await identityOf('person-2'), 'of another user').to.not.equal(undefined);
  });

  it('need the browser and the user of the beginning at the end', async () => {
    await visit('bob');
    const callback = await confirmed('person-3');
    const stranger = new SiteBrowser(a);
    await stranger.ask('/account');
    await stranger.submit({ username: 'alice', password: PASSWORD });
    expect((await stranger.ask(callback)).status, 'another browser').to.equal(403);
    // The user is not signed in any more, but another one is.
    await browser.ask('/account');
    await browser.submitTo('/account/sessions', { end: 'current' });
    await visit('alice');
    expectPage(await browser.ask(callback), 400, 'You were signed out in the meantime');
    expect(await identityOf('person-3')).to.equal(undefined);
    // The state of a link signs nobody in, and the state of a sign-in links nobody.
    await browser.ask('/account/switch');
    await browser.submit({ decision: 'other' });
    const response = await upstream.signIn(await chooseCompany(browser), 'person-3');
    expect((await browser.ask(pathOf(response))).text).to.contain('is not linked to a user');
    expect(await identityOf('person-3')).to.equal(undefined);
  });

  it('stay, as long as the user has no other way to sign in', async () => {
    await visit('bob');
    expect((await browser.ask(await confirmed('person-1'))).text).to.contain(LINKED);
    await cluster.delete('credentials/bob');
    for (const { oauth } of [a, b]) await until(() => oauth.credentials.get('bob') === undefined);
    const { text: page } = await signIn('person-1');
    expect(page).to.contain('bob').and.contain('You have no password here.');
    const only = (await identityOf('person-1')) ?? '';
    expectPage(await change({ unlink: only }), 400, 'You could not sign in without this account.');
    expect((await browser.ask(await confirmed('person-3'))).text).to.contain(LINKED);
    expect((await change({ unlink: only })).text).to.contain('Signed out');
    expect((await browser.ask('/account')).text).to.contain('Sign in with Company account');
    expect((await signIn('person-3')).text).to.contain('bob');
  });

  it('decide about a user without a password, so a passkey alone does not sign in', async () => {
    expect((await signIn('person-3')).text).to.contain('bob');
    const passkey = new SoftwarePasskey(new URL(a.issuer).origin);
    await browser.submitTo('/account/passkeys', { add: 'passkey' });
    const { headers } = await browser.submit({ name: 'A key', passkey: passkey.create(browser.page) });
    expect(headers.location).to.equal('/account?user=bob&done=passkey');
    const settings = { privateKeyRef: { name: 'ks-apiserver-identity-providers' } };
    const provider = { ...(await openIDProvider(cluster, upstream, settings)), name: 'renamed' };
    const renamed = await cluster.replica({ identityProviders: [provider] });
    const removed = await cluster.replica();
    for (const [replica, account] of [
      [b, 'Company account'],
      // The provider of the account is not configured any more, so it cannot say that the person has left.
      [renamed, 'company'],
      [removed, 'company'],
    ] as const) {
      browser = new SiteBrowser(replica);
      await browser.ask('/account');
      expectPage(
        await browser.submit({ passkey: passkey.get(browser.page) }),
        400,
        `Sign in with your account of ${account} first.`,
      );
      expect(replica.audited.at(-1)).to.deep.include({
        method: 'passkey',
        outcome: 'provider_required',
        user: 'bob',
      });
    }
  });
});
