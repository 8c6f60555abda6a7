// Tests of the parameter `claims`, of `acr_values` and of the claim `acr`.
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { NO_FACTORS } from '../../../../../server/oauth/factors/authenticators-store.ts';
import type { RequestedClaims } from '../../../../../server/oauth/users/user-claims.ts';
import { addApp, codeOf } from '../../../../support/oauth/second-factors.ts';
import { SignInSite } from '../../../../support/oauth/sign-in-site.ts';
import { PASSWORD, SiteState } from '../../../../support/oauth/sign-in-state.ts';
import { EXCHANGE, sentBack } from '../../../../support/oauth/sign-in-visit.ts';
import { SiteBrowser } from '../../../../support/oauth/site-browser.ts';
import type { SiteResponse } from '../../../../support/oauth/site-request.ts';

const ALICE = { name: 'alice', uid: 'uid-of-alice' };

type Claims = Readonly<Record<string, unknown>>;

describe('the claims parameter', () => {
  let state: SiteState;
  let site: SignInSite;
  let browser: SiteBrowser;
  before(async () => {
    state = await SiteState.make();
    await state.add('bob');
    site = await SignInSite.start(state);
  });
  after(() => site.close());
  beforeEach(async () => {
    state.sessions.objects.clear();
    await state.authenticators.update(ALICE, () => NO_FACTORS);
    browser = new SiteBrowser(site);
  });

  const errorOf = (response: SiteResponse): string | null => sentBack(response).get('error');
  const claims = (request: unknown) => ({ scope: 'openid', claims: JSON.stringify(request) });
  const acr = (values: readonly string[], essential = true) =>
    claims({ id_token: { acr: { essential, values } } });

  async function tokensOf(response: SiteResponse): Promise<Record<string, string>> {
    const { json } = await site.token({ ...EXCHANGE, code: sentBack(response).get('code') ?? '' });
    expect(json).to.have.property('id_token');
    return json as Record<string, string>;
  }
  async function returned(access_token: string | undefined): Promise<Claims> {
    const { text } = await site.ask('/oauth/userinfo', {
      headers: { authorization: `Bearer ${access_token}` },
    });
    return JSON.parse(text) as Claims;
  }
  const signInWithTwoFactors = async (): Promise<SiteResponse> => {
    const secret = await addApp(state, ALICE);
    await browser.signIn();
    return browser.submit({ code: codeOf(secret, state.now) });
  };

  it('adds claims to userinfo and to the ID token, each where it was requested, also after a refresh', async () => {
    const request = { userinfo: { name: { essential: true }, email: null }, id_token: { groups: null } };
    const tokens = await tokensOf(await browser.signIn('alice', claims(request)));
    const refresh = { grant_type: 'refresh_token', client_id: 'console' };
    const { json } = await site.token({ ...refresh, refresh_token: tokens['refresh_token'] ?? '' });
    for (const { access_token, id_token } of [tokens, json as Record<string, string>]) {
      const inUserinfo = { sub: 'alice', name: 'alice', email: 'alice@example.com' };
      expect(await returned(access_token)).to.deep.equal(inUserinfo);
      const inIDToken = decodeJwt(id_token ?? '');
      expect(inIDToken).to.deep.include({ groups: ['developers'] });
      expect(inIDToken).to.not.have.any.keys('name', 'email');
    }
    const other = await tokensOf(await browser.authorize({ scope: 'openid' }));
    expect(await returned(other['access_token'])).to.deep.equal({ sub: 'alice' });
  });

  it('names the requested data on the page', async () => {
    await browser.authorize(claims({ id_token: { email: null } }));
    expect(browser.page).to.contain('See your email address').and.to.not.contain('groups');
  });

  it('gives a client no claims of scopes that it is not allowed to have, or has lost', async () => {
    const request = claims({ userinfo: { email: null, groups: null }, id_token: { email: null } });
    const index = state.clients.findIndex(({ id }) => id === 'console');
    const [client] = state.clients.slice(index);
    if (!client) throw new Error('no client');
    const allow = (scopes: readonly string[]): void => void (state.clients[index] = { ...client, scopes });
    try {
      allow(['openid', 'groups']);
      const limited = await tokensOf(await browser.signIn('alice', request));
      expect(await returned(limited['access_token'])).to.have.all.keys('sub', 'groups');
      expect(decodeJwt(limited['id_token'] ?? '')).to.not.have.any.keys('email', 'groups');
      allow(['openid']);
      expect(await returned(limited['access_token'])).to.deep.equal({ sub: 'alice' });
    } finally {
      allow(client.scopes);
    }
  });

  it('is ignored without the scope openid, and for an access token that was narrowed', async () => {
    const request = claims({ userinfo: { email: null, sub: { value: 'bob' } } });
    const code = sentBack(await browser.signIn('alice', { ...request, scope: 'profile' })).get('code') ?? '';
    const { json } = await site.token({ ...EXCHANGE, code });
    expect(await returned(String(json['access_token']))).to.not.have.property('email');
    const scope = 'openid profile';
    const wide = await tokensOf(await browser.authorize({ ...claims({ userinfo: { email: null } }), scope }));
    const narrowed = await site.token({
      grant_type: 'refresh_token',
      client_id: 'console',
      refresh_token: wide['refresh_token'] ?? '',
      scope: 'profile',
    });
    expect(await returned(String(narrowed.json['access_token']))).to.not.have.property('email');
  });

  it('signs on only the user of sub, in either part', async () => {
    await browser.signIn();
    const bob = { sub: { value: 'bob' } };
    for (const request of [
      { id_token: bob },
      { userinfo: bob },
      { id_token: { sub: { values: ['bob'] } } },
    ]) {
      expect(errorOf(await browser.authorize({ ...claims(request), prompt: 'none' }))).to.equal(
        'login_required',
      );
    }
    await browser.authorize(claims({ id_token: bob }));
    expect(browser.page).to.contain('type="password"').and.to.contain('value="bob"');
    expect(errorOf(await browser.submit({ username: 'alice', password: PASSWORD }))).to.equal(
      'login_required',
    );
    await browser.authorize(claims({ id_token: bob }));
    const tokens = await tokensOf(await browser.submit({ username: 'bob', password: PASSWORD }));
    expect(decodeJwt(tokens['id_token'] ?? '')).to.include({ sub: 'bob' });
  });

  it('never signs on a user while id_token_hint names another one', async () => {
    const { id_token = '' } = await tokensOf(await browser.signIn());
    const request = claims({ id_token: { sub: { value: 'bob' } } });
    expect(errorOf(await browser.authorize({ ...request, id_token_hint: id_token }))).to.equal(
      'login_required',
    );
  });

  it('ignores unknown members', async () => {
    const request = {
      verified: { name: null },
      userinfo: { ['__proto__']: null, constructor: null, 'name#de': null, address: { essential: true } },
      id_token: { 'https://example.com/roles': null, auth_time: { essential: true }, toString: null },
    };
    const tokens = await tokensOf(await browser.signIn('alice', claims(request)));
    expect(await returned(tokens['access_token'])).to.deep.equal({ sub: 'alice' });
    expect(
      [...state.sessions.ofClients].map((session): RequestedClaims | undefined => session.claims),
    ).to.deep.equal([undefined]);
  });

  for (const text of [
    '{',
    '[]',
    'null',
    '"name"',
    '{"userinfo":[]}',
    '{"id_token":null}',
    '{"id_token":{"sub":{"values":["alice","bob"]}}}',
    '{"id_token":{"sub":{"value":"alice"}},"userinfo":{"sub":{"value":"bob"}}}',
    '{"id_token":{"sub":{"value":1}}}',
    `{"userinfo":{"${'x'.repeat(4096)}":null}}`,
    '['.repeat(4000),
  ]) {
    it(`is an error for ${text.slice(0, 60)}`, async () => {
      await browser.signIn();
      expect(errorOf(await browser.authorize({ scope: 'openid', claims: text }))).to.equal('invalid_request');
    });
  }

  describe('acr', () => {
    it('is 1fa after a password, whatever acr_values prefers', async () => {
      for (const acr_values of [undefined, 'mfa', 'gold 1fa', 'mfa 1fa', 'gold']) {
        const { id_token = '', access_token = '' } = await tokensOf(
          await browser.signIn('alice', { acr_values }),
        );
        for (const token of [id_token, access_token]) expect(decodeJwt(token)).to.include({ acr: '1fa' });
      }
    });

    it('is mfa after two factors, or the first value in acr_values that they meet', async () => {
      await signInWithTwoFactors();
      for (const [acr_values, expected] of [
        [undefined, 'mfa'],
        ['gold', 'mfa'],
        ['mfa 1fa', 'mfa'],
        ['1fa mfa', '1fa'],
      ] as const) {
        const { id_token = '' } = await tokensOf(await browser.authorize({ acr_values }));
        expect(decodeJwt(id_token)).to.deep.include({ acr: expected, amr: ['pwd', 'otp', 'mfa'] });
      }
    });

    it('is met by a browser session, or by a new sign-in, where it is essential', async () => {
      await browser.signIn();
      expect(errorOf(await browser.authorize({ ...acr(['mfa']), prompt: 'none' }))).to.equal(
        'login_required',
      );
      await browser.authorize(acr(['mfa']));
      const refused = await browser.submit({ username: 'alice', password: PASSWORD });
      expect(errorOf(refused)).to.equal('unmet_authentication_requirements');
      await signInWithTwoFactors();
      for (const values of [['mfa'], ['gold', 'mfa'], ['1fa']]) {
        const { id_token = '' } = await tokensOf(await browser.authorize({ ...acr(values), prompt: 'none' }));
        expect(values).to.include(decodeJwt(id_token)['acr']);
      }
    });

    it('is an error at once when no value is supported, unless it is voluntary', async () => {
      await browser.signIn();
      for (const request of [
        acr(['gold']),
        claims({ id_token: { acr: { essential: true, value: 'gold' } } }),
      ]) {
        expect(errorOf(await browser.authorize(request))).to.equal('unmet_authentication_requirements');
      }
      for (const request of [
        acr(['gold'], false),
        acr(['mfa'], false),
        claims({ id_token: { acr: null } }),
      ]) {
        const { id_token = '' } = await tokensOf(await browser.authorize(request));
        expect(decodeJwt(id_token)).to.include({ acr: '1fa' });
      }
    });
  });
});
