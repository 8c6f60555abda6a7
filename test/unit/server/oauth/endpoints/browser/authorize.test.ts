// Tests of the authorization endpoint.
import { hash } from 'node:crypto';
import { expect } from 'chai';
import { ISSUER, SignInSite } from '../../../../../support/oauth/sign-in-site.ts';
import { REDIRECT, SiteState } from '../../../../../support/oauth/sign-in-state.ts';
import { authorizePath, REQUEST, sentBack, Visit } from '../../../../../support/oauth/sign-in-visit.ts';
import type { SiteResponse } from '../../../../../support/oauth/site-request.ts';

/** An id in the format of the cookie. */
const ID = 'AAAAAAAAAAAAAAAAAAAAAA';
const EVIL = { redirect_uri: 'https://evil.example/' };
const OPTIONAL_PKCE = { client_id: 'old' };

describe('the authorization endpoint', () => {
  let site: SignInSite;
  before(async () => {
    site = await SignInSite.start(await SiteState.make());
  });
  after(() => site.close());

  it('shows a form with client, scopes and destination, safe from frames, caches, referrers and foreign content', async () => {
    const { status, headers, text } = await site.ask(authorizePath());
    expect(status).to.equal(200);
    expect(text).to.contain('<strong>The Console</strong> requests access');
    expect(text).to.contain('Know who you are').and.to.contain('See your email address');
    expect(text).to.contain('return to console.example.com');
    const [[, script = ''] = [], ...more] = text.matchAll(/<script>([^<]*)<\/script>/g);
    expect(more).to.deep.equal([]);
    expect(text.match(/<script/g)).to.deep.equal(['<script']);
    expect(headers).to.include({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; script-src 'sha256-${hash('sha256', script, 'base64')}'`,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
  });

  it('shows an error page for an invalid POST', async () => {
    for (const form of [{}, { ...REQUEST, ...EVIL }]) {
      const { status, headers } = await site.ask('/oauth/authorize', { form });
      expect([status, headers.location]).to.deep.equal([400, undefined]);
    }
  });

  it('sends a POST to the same request with GET, because a POST of another site has no cookies', async () => {
    const strange = { ...REQUEST, state: 'a\r\nX: y#?&=é', login_hint: 'bob' };
    const { status, headers } = await site.ask('/oauth/authorize', { form: strange });
    expect([status, headers['content-length']]).to.deep.equal([303, '0']);
    const { text } = await site.ask(headers.location ?? '');
    expect(text).to.contain('value="bob"');
    const raw = await site.ask('/oauth/authorize', {
      form: `${String(new URLSearchParams(REQUEST))}&x=a#b c\r\nX: y&y=%zz`,
    });
    expect(raw.headers.location).to.match(/^\/oauth\/authorize\?.*&x=a%23b%20c%0d%0aX%3a%20y&y=%zz$/);
  });

  it('sets a __Host- cookie with HttpOnly and SameSite, and keeps it, so that two tabs work', async () => {
    const { headers } = await site.ask(authorizePath());
    expect(headers['set-cookie']).to.have.length(1);
    const [cookie = ''] = headers['set-cookie'] ?? [];
    expect(cookie).to.match(/^__Host-sign-in=[\w-]{22}; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
    const again = await site.ask(authorizePath(), {
      headers: { cookie: `other=1; ${cookie.split(';')[0]}` },
    });
    expect(again.headers['set-cookie']).to.deep.equal([cookie]);
  });

  for (const cookie of [`x__Host-sign-in=${ID}`, `a=__Host-sign-in=${ID}`, `__Host-sign-in=${ID}A`]) {
    it(`replaces the cookie ${cookie}, such as one that a sibling domain has set`, async () => {
      const { headers } = await site.ask(authorizePath(), { headers: { cookie } });
      expect(headers['set-cookie']?.[0])
        .to.match(/^__Host-sign-in=[\w-]{22};/)
        .and.not.include(ID);
    });
  }

  it('fills in login_hint as escaped text', async () => {
    const { text } = await site.ask(authorizePath({ login_hint: `"><b>&'alice` }));
    expect(text).to.contain('value="&quot;&gt;&lt;b&gt;&amp;&#39;alice"');
    const long = await site.ask(authorizePath({ login_hint: '<'.repeat(1_000) }));
    expect(long.text).to.contain(`value="${'&lt;'.repeat(253)}"`);
  });

  describe('shows an error page without redirect for', () => {
    const cases: Record<string, string> = {
      'an unknown client': authorizePath({ client_id: 'nobody' }),
      'no client': authorizePath({ client_id: undefined }),
      'an unregistered redirect URI': authorizePath({ redirect_uri: `${REDIRECT}/` }),
      'a redirect URI of another client': authorizePath({ client_id: 'cli' }),
      'an unregistered redirect URI with another error': authorizePath({ ...EVIL, response_type: 'token' }),
      'an unregistered redirect URI with prompt=none': authorizePath({ ...EVIL, prompt: 'none' }),
      'no redirect URI': authorizePath({ redirect_uri: undefined }),
      'a repeated state': `${authorizePath()}&state=again`,
      'a malformed state': authorizePath({ state: undefined }) + '&state=100%',
      'a malformed client': authorizePath({ client_id: undefined }) + '&client_id=%ff',
      'a malformed redirect URI': authorizePath({ redirect_uri: undefined }) + '&redirect_uri=https:%',
      'a repeated redirect URI': `${authorizePath()}&redirect_uri=https%3A%2F%2Fevil.example`,
      'a state that is too long': authorizePath({ state: 'x'.repeat(4097) }),
    };
    for (const [title, path] of Object.entries(cases)) {
      it(title, async () => {
        const { status, headers, text } = await site.ask(path);
        expect(status).to.equal(400);
        expect(headers.location).to.equal(undefined);
        expect(text).to.contain('<h1>Sign-in cannot continue</h1>').and.not.to.contain('<form');
      });
    }
  });

  for (const [title, addition, name, value] of [
    ['a semicolon', '&login_hint=a;b', 'login_hint', 'a;b'],
    ['an unknown parameter with a semicolon', '&resource=a;b;&login_hint=ab', 'login_hint', 'ab'],
    [
      'a vertical bar, braces, brackets, a quote and a backslash',
      '&login_hint=|{}[]"\\',
      'login_hint',
      '|{}[]"\\',
    ],
    ['a plus sign', '&login_hint=a+b', 'login_hint', 'a b'],
    ['empty parameters', '&&login_hint=a&&=&', 'login_hint', 'a'],
    ['a parameter without a value', '&prompt&login_hint=a', 'login_hint', 'a'],
    ['an unknown parameter that is repeated', '&resource=a&resource=b&login_hint=a', 'login_hint', 'a'],
    ['an unknown parameter with a percent sign', '&utm=100%&login_hint=a', 'login_hint', 'a'],
    ['an unknown parameter that is not UTF-8', '&q=%fcber&%ff=x&login_hint=a', 'login_hint', 'a'],
  ] as const) {
    it(`accepts ${title} in the query`, async () => {
      const { status, text } = await site.ask(authorizePath() + addition);
      expect([status, text.includes('type="password"')]).to.deep.equal([200, true]);
      expect(text, name).to.contain(`value="${value.replaceAll('"', '&quot;')}"`);
    });
  }

  for (const [title, addition, reason] of [
    ['a fragment', '&x=1#y', 'contains a fragment'],
    ['more than 100 parameters', '&x=1'.repeat(100), 'more than 100 parameters'],
  ] as const) {
    it(`explains ${title} on a page`, async () => {
      const { status, text } = await site.ask(authorizePath() + addition);
      expect(status).to.equal(400);
      expect(text).to.contain(reason).and.not.to.contain('<form');
    });
  }

  for (const name of [
    'scope',
    'nonce',
    'prompt',
    'code_challenge',
    'response_type',
    'login_hint',
    'id_token_hint',
  ]) {
    it(`returns the error to the client if ${name} is repeated`, async () => {
      const back = sentBack(await site.ask(`${authorizePath()}&${name}=a&${name}=b`));
      expect(back.get('error')).to.equal('invalid_request');
      expect(back.get('error_description')).to.equal(`the parameter ${name} is repeated`);
      expect(back.get('state')).to.equal(REQUEST['state']);
    });

    it(`returns the error to the client if ${name} is malformed`, async () => {
      const back = sentBack(await site.ask(`${authorizePath({ [name]: undefined })}&${name}=100%`));
      expect(back.get('error')).to.equal('invalid_request');
      expect(back.get('error_description')).to.contain(`the parameter ${name} is not UTF-8, or`);
    });
  }

  it('accepts blanks around and between scopes, response types and prompts', async () => {
    for (const changes of [{ scope: ' openid  email ' }, { response_type: 'code ' }, { prompt: ' login' }]) {
      expect((await site.ask(authorizePath(changes))).status, JSON.stringify(changes)).to.equal(200);
    }
  });

  it('accepts a query of 16 KiB and shows an error page for a longer one', async () => {
    const [path = '', query = ''] = `${authorizePath()}&unknown=`.split('?');
    const fitting = `${path}?${query.padEnd(16 * 1024, 'x')}`;
    expect((await site.ask(fitting)).status).to.equal(200);
    const { status, text } = await site.ask(`${fitting}x`);
    expect(status).to.equal(414);
    expect(text).to.contain('The address is too long.').and.not.to.contain('<form');
  });

  describe('redirects to the client, with its issuer, for', () => {
    const cases: Record<string, [Record<string, string | undefined>, string]> = {
      'a client without the authorization_code grant': [{ client_id: 'machine' }, 'unauthorized_client'],
      'a missing response_type': [{ response_type: undefined }, 'invalid_request'],
      'a response_type other than code': [{ response_type: 'none' }, 'unsupported_response_type'],
      'another response_mode': [{ response_mode: 'jwt' }, 'invalid_request'],
      'a scope that is not allowed': [{ scope: 'root' }, 'invalid_scope'],
      'a scope with a quote': [{ scope: 'openid op"id' }, 'invalid_scope'],
      'a scope with a no-break space': [{ scope: 'openid\u00a0email' }, 'invalid_scope'],
      'a scope that is too long': [{ scope: 'openid '.repeat(200) }, 'invalid_scope'],
      'a missing challenge': [{ code_challenge: undefined }, 'invalid_request'],
      'the plain challenge method': [{ code_challenge_method: 'plain' }, 'invalid_request'],
      'a missing challenge method': [{ code_challenge_method: undefined }, 'invalid_request'],
      'plain with optional PKCE': [{ ...OPTIONAL_PKCE, code_challenge_method: 'plain' }, 'invalid_request'],
      'optional PKCE with a method only': [
        { ...OPTIONAL_PKCE, code_challenge: undefined },
        'invalid_request',
      ],
      'a malformed challenge': [{ code_challenge: 'x' }, 'invalid_request'],
      'prompt=none': [{ prompt: 'none' }, 'login_required'],
      'prompt=none without a state': [{ prompt: 'none', state: undefined }, 'login_required'],
      'prompt=none with another value': [{ prompt: 'none login' }, 'invalid_request'],
      'a max_age that is no number': [{ max_age: '1h' }, 'invalid_request'],
      'a request object': [{ request: 'e30.e30.' }, 'request_not_supported'],
      'a request_uri': [{ request_uri: 'https://x.example' }, 'request_uri_not_supported'],
      'a registration': [{ registration: '{}' }, 'registration_not_supported'],
      'a nonce that is too long': [{ nonce: 'n'.repeat(513) }, 'invalid_request'],
    };
    for (const [title, [changes, code]] of Object.entries(cases)) {
      it(title, async () => {
        const response = await site.ask(authorizePath(changes));
        const back = sentBack(response);
        expect(response.headers.location).to.match(/^https:\/\/console\.example\.com\/callback\?error=/);
        expect(back.get('error')).to.equal(code);
        expect(back.get('state')).to.equal('state' in changes ? null : REQUEST['state']);
        expect(back.get('iss')).to.equal(ISSUER);
        expect(back.get('error_description')).to.match(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
      });
    }
  });

  describe('redirects with the error in the fragment', () => {
    for (const [changes, code] of [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ response_type: 'id_token token' }, 'unsupported_response_type'],
      [{ response_type: 'code id_token' }, 'unsupported_response_type'],
      [{ response_mode: 'fragment' }, 'invalid_request'],
    ] as const) {
      it(`for ${Object.values(changes).join()}`, async () => {
        const { status, headers } = await site.ask(authorizePath(changes));
        expect(status).to.equal(303);
        const { search, hash } = new URL(headers.location ?? '');
        const back = Object.fromEntries(new URLSearchParams(hash.slice(1)));
        expect([search, back['error']]).to.deep.equal(['', code]);
        expect(back).to.include({ state: REQUEST['state'], iss: ISSUER });
      });
    }
  });

  describe('with response_mode=form_post', () => {
    const FORM_POST = { response_mode: 'form_post', state: '"><script>alert(1)</script>' };

    /** The fields of the form, and whether the Content-Security-Policy permits its script, which only submits it. */
    const posted = ({ status, headers, text }: SiteResponse) => {
      expect(status).to.equal(200);
      expect(text)
        .to.contain(`<form method="post" action="${REDIRECT}">`)
        .and.contain('<button type="submit"');
      const [, script = ''] = /<script>(.*)<\/script>/.exec(text) ?? [];
      expect(script).to.equal('document.forms[0].submit()');
      expect(headers['content-security-policy']).to.equal(
        `default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; script-src 'sha256-${hash('sha256', script, 'base64')}'`,
      );
      expect(text).to.contain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
      return Object.fromEntries(
        [...text.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
      );
    };

    it('posts the code, with the state unchanged', async () => {
      const visit = await Visit.begin(site, FORM_POST);
      const fields = posted(await visit.signIn());
      expect(Object.keys(fields)).to.deep.equal(['code', 'state', 'iss']);
      expect(fields).to.include({ iss: ISSUER });
    });

    it('posts an error', async () => {
      const fields = posted(await site.ask(authorizePath({ ...FORM_POST, scope: 'root' })));
      expect(fields).to.include({ error: 'invalid_scope', iss: ISSUER });
    });

    it('is refused for a private scheme, which receives no forms', async () => {
      const native = { client_id: 'native', redirect_uri: 'com.example.app:/callback', ...FORM_POST };
      const { headers } = await site.ask(authorizePath(native));
      expect(headers.location).to.match(/^com\.example\.app:\/callback\?error=invalid_request/);
    });
  });

  it('rejects plain HTTP unless a proxy terminates TLS', async () => {
    await using plain = await SignInSite.start(site.state, { secure: false });
    const { status, text } = await plain.ask(authorizePath());
    expect(status).to.equal(400);
    expect(text).to.contain('over HTTPS only').and.not.to.contain('<form');
    expect((await plain.ask('/oauth/sign-in', { form: {} })).status).to.equal(400);
    for (const [headers, isAccepted] of [
      [{ 'x-forwarded-proto': 'https' }, true],
      [{ 'x-forwarded-proto': ' HTTPS , https' }, true],
      [{ 'x-forwarded-proto': 'https, http' }, true],
      [{ 'x-forwarded-proto': 'http, https' }, false],
      [{ forwarded: 'for=192.0.2.1;proto=HTTPS, for="[2001:db8::1]:80";proto="https"' }, true],
      [{ 'x-forwarded-proto': 'http', forwarded: 'proto=https' }, false],
      [{ 'x-forwarded-ssl': 'on', 'x-forwarded-scheme': 'https', 'front-end-https': 'on' }, false],
    ] as const) {
      const { text } = await plain.ask(authorizePath(), { headers });
      expect(text.includes('type="password"'), JSON.stringify(headers)).to.equal(isAccepted);
    }
  });

  it('responds to no other method than GET and POST: HEAD must be safe, and would get a code', async () => {
    for (const method of ['HEAD', 'PUT']) {
      const { status, headers } = await site.ask(authorizePath(), { method });
      expect([status, headers['allow']]).to.deep.equal([405, 'GET, POST']);
    }
  });
});
