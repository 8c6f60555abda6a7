// Tests of the account page: profile, password, sessions and kubeconfig of the user of a browser session.
import { expect } from 'chai';
import { newTooManyRequests } from '../../../../../../apis/meta/v1/errors.ts';
import { newSession } from '../../../../../support/oauth/new-session.ts';
import { newConfiguredClient } from '../../../../../support/oauth/oauth-clients.ts';
import { SignInSite } from '../../../../../support/oauth/sign-in-site.ts';
import { PASSWORD, SiteState } from '../../../../../support/oauth/sign-in-state.ts';
import { EXCHANGE, sentBack } from '../../../../../support/oauth/sign-in-visit.ts';
import { SiteBrowser } from '../../../../../support/oauth/site-browser.ts';
import { expectPage, type SiteResponse } from '../../../../../support/oauth/site-request.ts';

const NEW = 'another good password';
const CHANGE = { password: PASSWORD, new_password: NEW, repeated: NEW };

describe('the account page', () => {
  let state: SiteState;
  let site: SignInSite;
  let browser: SiteBrowser;
  before(async () => {
    state = await SiteState.make();
    state.clients.push(newConfiguredClient('kubectl', { keepAfterSignOut: true }));
    site = await SignInSite.start(state);
  });
  after(() => site.close());
  beforeEach(async () => {
    state.sessions.objects.clear();
    state.accounts.clear();
    state.throttled = undefined;
    await state.add('alice');
    await state.add('bob');
    browser = new SiteBrowser(site);
  });

  const ids = (): string[] => state.sessions.all.map(({ id }) => id);
  const locationOf = ({ headers }: SiteResponse): string => String(headers['location']);

  /** Signs in on the account page, and follows the redirect. */
  async function visit(user = 'alice', from = browser): Promise<void> {
    await from.ask('/account');
    const response = await from.submit({ username: user, password: PASSWORD });
    expect([response.status, locationOf(response)]).to.deep.equal([303, `/account?user=${user}`]);
    const { status } = await from.ask(locationOf(response));
    expect(status, from.page).to.equal(200);
  }
  /** Signs in to the client console; returns the id of its session. */
  async function useConsole(from = browser): Promise<string> {
    const before = new Set(ids());
    const code = sentBack(await from.signIn()).get('code') ?? '';
    expect((await site.token({ ...EXCHANGE, code })).status).to.equal(200);
    return (
      ids().find((id) => !before.has(id) && state.sessions.objects.get(id)?.clientID === 'console') ?? ''
    );
  }
  const kubectl = async (browserID?: string): Promise<string> => {
    const { id } = await site.store.create(
      newSession({
        user: 'alice',
        userUID: 'uid-of-alice',
        clientID: 'kubectl',
        ...(browserID === undefined ? {} : { browser: browserID }),
        createdAt: state.now,
        lastUsedAt: state.now,
        notAfter: state.now + 86_400_000,
        idleNotAfter: state.now + 86_400_000,
      }),
    );
    return id;
  };
  const end = (form: Record<string, string>) => browser.submitTo('/account/sessions', form);

  it('asks a visitor to sign in, and comes back', async () => {
    const { status, headers } = await browser.ask('/account');
    expect([status, browser.page.includes('id="username"')]).to.deep.equal([200, true]);
    expect(headers['content-security-policy']).to.match(
      /^default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; script-src 'sha256-[^' ]+'; form-action 'self'$/,
    );
    expect(browser.page).to.not.contain('requests access');
    await visit();
    for (const text of [
      'alice@example.com',
      'developers',
      'Local account of Acme &lt;Cloud&gt;',
      '<a href="/">Acme &lt;Cloud&gt;</a>',
      'This browser',
    ]) {
      expect(browser.page).to.contain(text);
    }
  });

  it('redirects from its address with a slash at the end', async () => {
    const response = await browser.ask('/account/?user=alice');
    expect([response.status, locationOf(response)]).to.deep.equal([303, '/account?user=alice']);
  });

  it('shows the account of a browser that has signed in to a program, without a password', async () => {
    await browser.signIn();
    await browser.ask('/account');
    expect(browser.page).to.contain('<h1>Your account</h1>').and.contain('192.0.2.7');
  });

  it('shows one of several accounts, and switches between them', async () => {
    await visit('alice');
    await browser.ask('/account/switch');
    await browser.submit({ decision: 'other' });
    await browser.submit({ username: 'bob', password: PASSWORD });
    await browser.ask('/account');
    expect(browser.page).to.contain('bob@example.com');
    await browser.ask('/account/switch');
    expect(locationOf(await browser.submit({ account: 'alice' }))).to.equal('/account?user=alice');
    await browser.ask('/account?user=alice');
    expect(browser.page).to.contain('alice@example.com').and.not.contain('bob@example.com');
    await browser.ask('/account?user=carol');
    expect(browser.page).to.contain('value="carol"').and.not.contain('alice@example.com');
  });

  describe('password', () => {
    const change = (form: Record<string, string> = {}) =>
      browser.submitTo('/account/password', { ...CHANGE, ...form });

    it('is changed with the current one; this browser stays signed in, and all else is signed out', async () => {
      await useConsole();
      await kubectl();
      await browser.ask('/account');
      const before = browser.cookies.get('__Host-session');
      state.now += 1000;
      const response = await change();
      expect(locationOf(response)).to.equal('/account?user=alice&done=password');
      await browser.ask(locationOf(response));
      expect(browser.page).to.contain('Your password is changed.').and.contain('This browser');
      expect(state.sessions.ofClients).to.deep.equal([]);
      expect(ids()).to.have.length(1);
      const stolen = new SiteBrowser(site);
      stolen.cookies.set('__Host-session', before ?? '');
      await stolen.ask('/account');
      expect(stolen.page).to.contain('Sign in');
      const other = new SiteBrowser(site);
      await other.ask('/account');
      expect((await other.submit({ username: 'alice', password: PASSWORD })).status).to.equal(400);
    });

    it('is not changed without the current one, by the rules of passwords, or during the delay of the throttle', async () => {
      await visit();
      const credential = state.credentials.get('alice');
      for (const [form, status, text] of [
        [{ password: 'guess' }, 400, 'The current password is wrong.'],
        [{ password: '' }, 400, 'Enter your current password.'],
        [{ repeated: 'typo' }, 400, 'The two new passwords are not the same.'],
        [
          { new_password: 'short', repeated: 'short' },
          400,
          'The new password must have at least 8 characters.',
        ],
        [{ new_password: PASSWORD, repeated: PASSWORD }, 400, 'must differ from the current one'],
      ] as const) {
        const response = await change(form);
        expect([response.status, response.text.includes(text)], text).to.deep.equal([status, true]);
        expect(response.text).to.not.contain('guess').and.not.contain(NEW);
      }
      state.throttled = newTooManyRequests('slow down', 7);
      const { status, headers, text } = await change();
      expect([status, headers['retry-after']]).to.deep.equal([429, '7']);
      expect(text).to.contain('Too many attempts. Try again in 7 seconds.');
      expect(state.credentials.get('alice')).to.equal(credential);
    });

    it('is not overwritten when it was changed meanwhile', async () => {
      await visit();
      state.replaceMeanwhile();
      const { status, text } = await change();
      expect([status, text.includes('changed in the meantime') || text.includes('is wrong')]).to.deep.equal([
        400,
        true,
      ]);
      expect(state.credentials.get('alice')?.passwordHash).to.equal('of another');
    });

    it('has no form for a user without one', async () => {
      await visit();
      state.credentials.delete('alice');
      await browser.ask('/account');
      expect(browser.page).to.not.contain('/account/password');
    });
  });

  describe('sessions', () => {
    it('show program, place and last use, this browser first, and no unused code', async () => {
      await useConsole();
      await browser.signIn();
      state.now += 2 * 3_600_000;
      await browser.ask('/account');
      const [, list = ''] = /<h2 id="sessions">.*?<ul[^>]*>(.*?)<\/ul>/s.exec(browser.page) ?? [];
      const names = [...list.matchAll(/<strong>(.*?)<\/strong>/g)].map(([, name]) => name);
      expect(names).to.deep.equal(['This browser', 'The Console']);
      expect(list).to.contain('2 hours ago').and.contain('192.0.2.7');
    });

    it('are ended one by one', async () => {
      const session = await useConsole();
      await browser.ask('/account');
      const response = await end({ session });
      expect(locationOf(response)).to.equal('/account?user=alice&done=session');
      expect(ids()).to.have.length(1).and.not.include(session);
      await browser.ask(locationOf(response));
      expect(browser.page).to.contain('role="status">Signed out.');
    });

    it('of other users are never ended', async () => {
      await visit('bob', new SiteBrowser(site));
      const [foreign = ''] = ids();
      await visit();
      expect((await end({ session: foreign })).status).to.equal(303);
      await browser.ask('/account');
      await end({ end: 'others' });
      expect(ids()).to.include(foreign).and.have.length(2);
    });

    it('are all ended except that of this browser', async () => {
      const other = new SiteBrowser(site);
      await useConsole(other);
      await kubectl();
      await visit();
      const code = sentBack(await browser.authorize()).get('code') ?? '';
      await browser.ask('/account');
      await end({ end: 'others' });
      expect(ids()).to.have.length(1);
      expect((await site.token({ ...EXCHANGE, code })).status, 'a code of this browser').to.equal(400);
      await browser.ask('/account');
      expect(browser.page).to.contain('This browser').and.not.contain('Sign out everywhere else');
      await other.ask('/account');
      expect(other.page).to.not.contain('alice@example.com');
    });

    it('are ended for a thief of the cookie of this browser, too; its other accounts stay', async () => {
      await visit('bob');
      await browser.signIn('alice');
      const thief = new SiteBrowser(site);
      for (const [name, value] of browser.cookies) thief.cookies.set(name, value);
      await thief.ask('/account?user=alice');
      expect(thief.page).to.contain('alice@example.com');
      await browser.ask('/account?user=alice');
      await end({ end: 'others' });
      for (const user of ['alice', 'bob']) {
        await browser.ask(`/account?user=${user}`);
        expect(browser.page).to.contain(`${user}@example.com`);
      }
      await thief.ask('/account?user=alice');
      expect(thief.page).to.not.contain('alice@example.com');
    });

    it('are ended for a thief of the cookie, whose replica or that of the user is behind', async () => {
      await using here = await SignInSite.start(state);
      await using there = await SignInSite.start(state);
      browser.site = here;
      await visit();
      const [own = ''] = ids();
      const thief = new SiteBrowser(there);
      for (const [name, value] of browser.cookies) thief.cookies.set(name, value);
      const device = await there.ask('/oauth/device_authorization', { form: { client_id: 'cli' } });
      const { user_code } = JSON.parse(device.text) as { readonly user_code: string };
      const codeOf = async (): Promise<string> => sentBack(await thief.authorize()).get('code') ?? '';
      here.store.lag();
      expect((await there.token({ ...EXCHANGE, code: await codeOf() })).status).to.equal(200);
      there.store.lag();
      const code = await codeOf();
      await thief.ask(`/oauth/device?user_code=${user_code}`);
      expect(thief.page).to.contain('value="alice"');
      await end({ end: 'others' });
      expect((await there.token({ ...EXCHANGE, code })).status).to.equal(400);
      expect((await thief.submit({ account: 'alice' })).text).to.contain('This code cannot be used');
      expect(state.sessions.all.filter(({ user }) => user === 'alice').map(({ id }) => id)).to.deep.equal([
        own,
      ]);
    });

    it('of this browser end with those of its programs, except kubectl; other accounts stay', async () => {
      const elsewhere = await useConsole(new SiteBrowser(site));
      await visit('bob');
      const program = await useConsole();
      const cli = await kubectl(state.sessions.objects.get(program)?.browser);
      await browser.ask('/account?user=alice');
      expectPage(await end({ end: 'current' }), 200, '<h1>Signed out</h1>');
      expect(state.sessions.ofClients.map(({ id }) => id)).to.have.members([elsewhere, cli]);
      await browser.ask('/account');
      expect(browser.page).to.contain('bob@example.com');
      await end({ end: 'current' });
      expect(browser.cookies.has('__Host-session')).to.equal(false);
    });
  });

  describe('CSRF', () => {
    it('protects every form: another site, another browser, another ticket, no ticket', async () => {
      await visit();
      const { page } = browser;
      const before = ids();
      for (const path of ['/account/password', '/account/sessions']) {
        const form = { ...CHANGE, end: 'others' };
        const crossSite = await browser.submitTo(path, form, { 'sec-fetch-site': 'cross-site' });
        const none = await browser.ask(path, { form });
        browser.page = page;
        expect([crossSite.status, none.status]).to.deep.equal([403, 403]);
        const victim = new SiteBrowser(site);
        await visit('bob', victim);
        victim.page = page;
        expect(locationOf(await victim.submitTo(path, form))).to.equal('/account?user=alice&done=nothing');
        browser.page = page;
      }
      await browser.ask('/oauth/authorize');
      expect(ids()).to.include.members(before);
    });

    it('accepts no form after the session of its page has ended', async () => {
      await visit();
      const { page } = browser;
      await end({ end: 'current' });
      browser.page = page;
      const nothing = '/account?user=alice&done=nothing';
      expect(locationOf(await browser.submitTo('/account/password', CHANGE))).to.equal(nothing);
      expect(state.credentials.get('alice')?.changedAt).to.be.below(state.now);
      // As in another tab, which has signed in meanwhile.
      await visit();
      browser.page = page;
      expect(locationOf(await browser.submitTo('/account/password', CHANGE))).to.equal(nothing);
      expect((await browser.ask(nothing)).text).to.contain('Nothing was changed, because the page was');
    });

    it('shows no notice for a link of another site', async () => {
      await visit();
      await browser.ask('/account?done=password', { headers: { 'sec-fetch-site': 'cross-site' } });
      expect(browser.page).to.contain('<h1>Your account</h1>').and.not.contain('is changed');
    });
  });

  it('shows an expired form again, without its effect', async () => {
    await visit();
    const { page } = browser;
    state.now += 31 * 60_000;
    browser.page = page;
    expectPage(await browser.submitTo('/account/sessions', { end: 'current' }), 400, 'open for too long');
    expect(ids()).to.have.length(1);
  });

  it('downloads a kubeconfig for a user who is signed in', async () => {
    await browser.ask('/account/kubeconfig');
    expect(browser.page).to.contain('id="username"');
    await visit();
    const { headers, text } = await browser.ask('/account/kubeconfig');
    expect([headers['content-disposition'], headers['cache-control'], text]).to.deep.equal([
      'attachment; filename="kubeconfig.yaml"',
      'no-store',
      'the kubeconfig',
    ]);
  });

  it('rejects other methods and plain HTTP', async () => {
    expect((await browser.ask('/account/sessions')).status).to.equal(405);
    await using plain = await SignInSite.start(state, { secure: false });
    expectPage(await plain.ask('/account'), 400, 'This connection is not secure');
  });
});
