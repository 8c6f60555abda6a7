// Tests of the authenticator app and the recovery codes on the account page, over HTTP, with all state in memory.
import { expect } from 'chai';
import { hashOfCode, newRecoveryCode } from '../../../../../../server/oauth/factors/recovery-codes.ts';
import { byIdentity } from '../../../../../../server/oauth/sessions/proof.ts';
import { NO_FRESHNESS } from '../../../../../support/oauth/no-providers.ts';
import { codeOf, recoveryCodesOn, secretOn } from '../../../../../support/oauth/second-factors.ts';
import { SignInSite } from '../../../../../support/oauth/sign-in-site.ts';
import { PASSWORD, SiteState } from '../../../../../support/oauth/sign-in-state.ts';
import { sentBack } from '../../../../../support/oauth/sign-in-visit.ts';
import { SiteBrowser } from '../../../../../support/oauth/site-browser.ts';
import { expectPage, type SiteResponse } from '../../../../../support/oauth/site-request.ts';

const PATH = '/account/second-factor';
const ALICE = { name: 'alice', uid: 'uid-of-alice' };

describe('the authenticator app on the account page', () => {
  let state: SiteState;
  let site: SignInSite;
  let browser: SiteBrowser;
  beforeEach(async () => {
    state = await SiteState.make();
    site = await SignInSite.start(state);
    browser = await signedIn();
  });
  afterEach(() => site.close());

  async function signedIn(): Promise<SiteBrowser> {
    const each = new SiteBrowser(site);
    await each.ask('/account');
    await each.submit({ username: 'alice', password: PASSWORD });
    await each.ask('/account');
    return each;
  }
  const act = (action: string): Promise<SiteResponse> => browser.submitTo(PATH, { action });
  /** Adds an app; returns its secret and the recovery codes. */
  async function add(): Promise<{ readonly secret: string; readonly codes: readonly string[] }> {
    const secret = secretOn((await act('add')).text);
    const codes = recoveryCodesOn((await browser.submit({ code: codeOf(secret, state.now) })).text);
    const { headers } = await browser.submit({});
    expect(headers.location).to.equal('/account?user=alice&done=app');
    await browser.ask(String(headers.location));
    return { secret, codes };
  }

  it('is added, and keeps only this browser signed in', async () => {
    const other = await signedIn();
    const { codes } = await add();
    expect(codes).to.have.length(10);
    expect(browser.page)
      .to.include('The authenticator app is added.')
      .and.include('Recovery codes left: 10.');
    expect((await other.ask('/account')).text).to.include('<h1>Sign in</h1>');
  });

  it('is not added for a person whom the identity provider does not confirm any more', async () => {
    const secret = secretOn((await act('add')).text);
    const codes = { code: codeOf(secret, state.now) };
    state.freshness = { renewed: async () => 'gone' };
    expect((await browser.submit(codes)).status).to.equal(303);
    state.freshness = NO_FRESHNESS;
    expect(recoveryCodesOn(browser.page)).to.deep.equal([]);
    expect(state.authenticators.of(ALICE).totp).to.equal(undefined);
  });

  it('is replaced with the same recovery codes, and the earlier one is not valid any more', async () => {
    const { secret } = await add();
    const { recoveryCodes } = state.authenticators.of(ALICE);
    const replaced = secretOn((await act('add')).text);
    expect((await browser.submit({ code: codeOf(replaced, state.now) })).status).to.equal(303);
    expect(state.authenticators.of(ALICE).recoveryCodes).to.deep.equal(recoveryCodes);
    state.now += 60_000;
    await browser.signIn();
    expect((await browser.submit({ code: codeOf(secret, state.now) })).status).to.equal(400);
    expect((await browser.submit({ code: codeOf(replaced, state.now) })).status).to.equal(303);
  });

  it('gets new recovery codes, and the earlier ones are not valid any more', async () => {
    const { codes } = await add();
    const renewed = recoveryCodesOn((await act('codes')).text);
    expect((await browser.submit({})).headers.location).to.equal('/account?user=alice&done=codes');
    await browser.signIn();
    expect((await browser.submit({ code: codes[0] ?? '' })).status).to.equal(400);
    expect((await browser.submit({ code: renewed[0] ?? '' })).status).to.equal(303);
  });

  it('and its recovery codes stay as they are when a form is submitted again', async () => {
    const { codes } = await add();
    const codesOf = (): number => state.authenticators.of(ALICE).recoveryCodes.length;
    const submittedAgain = async (page: string, form: Readonly<Record<string, string>>): Promise<void> => {
      const before = state.authenticators.of(ALICE);
      browser.page = page;
      const { headers } = await browser.submit(form);
      expect(headers.location).to.equal('/account?user=alice&done=nothing');
      expect(state.authenticators.of(ALICE)).to.deep.equal(before);
      expect((await browser.ask(String(headers.location))).text).to.include('Nothing was changed');
    };
    const [, renewed = ''] = recoveryCodesOn((await act('codes')).text);
    const codesPage = browser.page;
    await browser.submit({});
    const other = new SiteBrowser(site);
    await other.signIn();
    expect((await other.submit({ code: renewed })).status).to.equal(303);
    await submittedAgain(codesPage, {});
    expect([codesOf(), codes.length]).to.deep.equal([9, 10]);
    const secret = secretOn((await act('add')).text);
    const appPage = browser.page;
    const first = codeOf(secret, state.now);
    expect((await browser.submit({ code: first })).headers.location).to.contain('done=app');
    await other.signIn();
    expect((await other.submit({ code: codeOf(secret, state.now + 30_000) })).status).to.equal(303);
    await submittedAgain(appPage, { code: first });
  });

  it('is removed with its recovery codes, unless a factor is required', async () => {
    await add();
    state.secondFactor.groups.push('developers');
    await site.close();
    site = await SignInSite.start(state);
    browser.site = site;
    expectPage(await act('remove'), 400, 'Your account needs a second factor.');
    state.secondFactor.groups.length = 0;
    await site.close();
    site = await SignInSite.start(state);
    browser.site = site;
    expect((await act('remove')).headers.location).to.equal('/account?user=alice&done=app-removed');
    expect((await browser.ask('/account?done=app-removed')).text).to.include('app is removed.');
    expect(state.authenticators.of(ALICE)).to.deep.equal({ passkeys: [], recoveryCodes: [] });
    expect((await browser.signIn()).status, 'the password is enough').to.equal(303);
  });

  it('is changed only ten minutes after a sign-in with all factors', async () => {
    const { secret } = await add();
    state.now += 10 * 60_000;
    const { page } = browser;
    for (const action of ['add', 'remove', 'codes']) {
      browser.page = page;
      expectPage(await act(action), 400, 'Sign in again to change your second factor.');
    }
    await browser.submit({ username: 'alice', password: PASSWORD });
    const { headers } = await browser.submit({ code: codeOf(secret, state.now) });
    await browser.ask(String(headers.location));
    expect((await act('remove')).headers.location).to.equal('/account?user=alice&done=app-removed');
  });

  it('does not replace the code of a reset that this replica does not know yet', async () => {
    await add();
    const oneTimeCode = { passkeys: [], recoveryCodes: [{ hash: hashOfCode(newRecoveryCode()) }] };
    state.authenticators.cached = state.authenticators.of(ALICE);
    await state.authenticators.update(ALICE, () => oneTimeCode);
    const { page } = browser;
    const secret = secretOn((await act('add')).text);
    await browser.submit({ code: codeOf(secret, state.now) });
    browser.page = page;
    await act('codes');
    await browser.submit({});
    browser.page = page;
    const refused = await act('remove');
    expect(refused.status).to.equal(400);
    expect(refused.text).to.contain('Your second factors were changed in the meantime.');
    state.authenticators.cached = undefined;
    expect(state.authenticators.of(ALICE)).to.equal(oneTimeCode);
  });

  it('is changed only with the factor, not with the account of an identity provider alone', async () => {
    const { secret } = await add();
    const identity = { name: 'i-1', uid: 'uid-of-i-1', provider: 'company', issuer: '', subject: '' };
    const { name: user, uid: userUID } = ALICE;
    state.identities = { synced: true, get: () => ({ ...identity, user, userUID, displayName: '' }) };
    state.redirects = {
      ...state.redirects,
      choices: [{ name: 'company', displayName: 'Company', problem: undefined }],
      begin: async (_provider, { stateWith }) => {
        const sealed = await stateWith({ nonce: '', verifier: '' });
        return new URL(`https://login.example.com/?state=${sealed}`);
      },
      finish: async () => {
        const { name, uid } = identity;
        const proof = { kind: 'identity', name, uid, groups: [], checkedAt: state.now } as const;
        const account = state.accounts.get(user) ?? expect.fail();
        return { account, authentication: byIdentity(proof, state.credentials.get(user), state.now) };
      },
    };
    await site.close();
    site = await SignInSite.start(state);
    const arrive = async (): Promise<SiteResponse> => {
      const { headers } = await browser.submit({ provider: 'company' });
      return browser.ask(`/oauth/callback/company${new URL(String(headers.location)).search}`);
    };
    browser = new SiteBrowser(site);
    await browser.ask('/account');
    expect((await arrive()).headers.location).to.equal('/account?user=alice');
    await browser.ask('/account');
    const { page } = browser;
    for (const [path, form] of [
      ...['add', 'remove', 'codes'].map((action) => [PATH, { action }] as const),
      ['/account/passkeys', { add: 'yes' }],
      ['/account/identities', { link: 'company' }],
    ] as const) {
      browser.page = page;
      expectPage(await browser.submitTo(path, form), 400, 'Sign in again to change');
    }
    expect((await arrive()).text).to.include('name="code"');
    state.now += 60_000;
    await browser.submit({ code: codeOf(secret, state.now) });
    // A client that requires two factors gets them, too.
    browser = new SiteBrowser(site);
    const claims = JSON.stringify({ id_token: { acr: { essential: true, value: 'mfa' } } });
    await browser.authorize({ claims });
    expect((await arrive()).text).to.include('name="code"');
    state.now += 60_000;
    const back = sentBack(await browser.submit({ code: codeOf(secret, state.now) }));
    expect([back.has('code'), back.get('error')]).to.deep.equal([true, null]);
    await browser.ask('/account');
    expect((await act('remove')).headers.location).to.equal('/account?user=alice&done=app-removed');
  });

  describe('beside passkeys', () => {
    const RENAMED = '/account?user=alice&done=passkey-renamed';
    const passkey = { publicKey: 'AAAA', counter: 0, transports: [], backedUp: false };
    let secret: string;
    beforeEach(async () => {
      ({ secret } = await add());
      const addedTime = new Date(state.now).toISOString();
      const passkeys = ['a', 'b', 'c'].map((id) => ({ ...passkey, id, name: `Key ${id}`, addedTime }));
      await state.authenticators.update(ALICE, (current) => ({ ...current, passkeys }));
      await browser.ask('/account');
    });
    const names = (): readonly string[] => state.authenticators.of(ALICE).passkeys.map(({ name }) => name);
    const rename = (id: string, name: string): Promise<SiteResponse> =>
      browser.submitTo('/account/passkeys', { rename: id, name });

    it('lets the user rename each of them', async () => {
      expect((await rename('b', ' <My> laptop ')).headers.location).to.equal(RENAMED);
      expect(names()).to.deep.equal(['Key a', '<My> laptop', 'Key c']);
      const { text } = await browser.ask(RENAMED);
      expect(text)
        .to.include('The passkey has a new name.')
        .and.include('<strong>&lt;My&gt; laptop</strong>');
    });

    it('replaces characters of a name that control a terminal or the order of a text, as of a new passkey', async () => {
      expect((await rename('b', 'My\u001b[2J \u202eyek')).headers.location).to.equal(RENAMED);
      expect(names()[1]).to.equal('My?[2J ?yek');
    });

    it('requires a visible name of at most 64 characters, as for a new passkey', async () => {
      const { page } = browser;
      for (const name of ['', ' ', '\u200b', 'x'.repeat(65)]) {
        browser.page = page;
        expect((await rename('b', name)).status, name).to.equal(400);
      }
      browser.page = page;
      expect((await rename('b', ' ')).text).to.include('Enter a name for the passkey.');
      expect(names()).to.deep.equal(['Key a', 'Key b', 'Key c']);
    });

    it('keeps all names when a passkey was removed meanwhile, or the form comes from another site', async () => {
      const gone = await rename('d', 'New');
      expect([gone.status, gone.text.includes('were changed in the meantime')]).to.deep.equal([400, true]);
      const form = { rename: 'a', name: 'New' };
      const headers = { 'sec-fetch-site': 'cross-site' };
      expect((await browser.submitTo('/account/passkeys', form, headers)).status).to.equal(403);
      expect(names()).to.deep.equal(['Key a', 'Key b', 'Key c']);
    });

    it('is removed once, also by a second click and by an older page of another tab', async () => {
      for (const page of [browser.page, browser.page]) {
        browser.page = page;
        const { headers } = await browser.submitTo('/account/passkeys', { remove: 'b' });
        expect(headers.location).to.equal('/account?user=alice&done=passkey-removed');
        browser.page = page;
        expect((await act('remove')).headers.location).to.equal('/account?user=alice&done=app-removed');
      }
      expect(names()).to.deep.equal(['Key a', 'Key c']);
    });

    it('requires a recent sign-in with all factors to rename one', async () => {
      state.now += 10 * 60_000;
      const { status, text } = await rename('a', 'New');
      expect([status, text.includes('Sign in again to change your passkeys.')]).to.deep.equal([400, true]);
      await browser.submit({ username: 'alice', password: PASSWORD });
      await browser.submit({ method: 'app' });
      await browser.submit({ code: codeOf(secret, state.now) });
      await browser.ask('/account');
      expect((await rename('a', 'New')).headers.location).to.equal(RENAMED);
    });
  });

  it('is not added by a form whose browser session has ended, or of another site', async () => {
    const secret = secretOn((await act('add')).text);
    await browser.submit({ code: codeOf(secret, state.now) });
    const { page } = browser;
    expect((await browser.submit({}, { 'sec-fetch-site': 'cross-site' })).status).to.equal(403);
    await browser.ask('/account');
    await browser.submitTo('/account/sessions', { end: 'current' });
    browser.page = page;
    expect((await browser.submit({})).headers.location).to.equal('/account?user=alice&done=nothing');
    expect(state.authenticators.of(ALICE).totp).to.equal(undefined);
  });
});
