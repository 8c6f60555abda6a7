import { expect } from 'chai';
import { ISSUER, SignInSite } from '../../../../../support/oauth/sign-in-site.ts';
import { REDIRECT, SiteState } from '../../../../../support/oauth/sign-in-state.ts';
import { authorizePath, REQUEST, sentBack, Visit } from '../../../../../support/oauth/sign-in-visit.ts';

describe('the authorization endpoint', () => {
  let site: SignInSite;
  before(async () => {
    site = await SignInSite.start(await SiteState.make());
  });
  after(() => site.close());

  it('shows a form, and says which client asks for what and where the browser goes', async () => {
    const { status, headers, text } = await site.ask(authorizePath());
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('text/html; charset=utf-8');
    expect(text).to.contain('<strong>The Console</strong> asks for access');
    expect(text).to.contain('Know who you are').and.to.contain('See your email address');
    expect(text).to.contain('return to console.example.com');
    expect(text).not.to.contain('<script');
  });

  it('keeps the page out of frames, caches and referrers, and lets it load nothing from elsewhere', async () => {
    const { headers } = await site.ask(authorizePath());
    expect(headers).to.include({
      'content-security-policy':
        "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'",
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
  });

  it('knows the browser by a cookie that no script, other site or sibling domain gets hold of', async () => {
    const { headers } = await site.ask(authorizePath());
    expect(headers['set-cookie']).to.have.length(1);
    expect(headers['set-cookie']?.[0]).to.match(
      /^__Host-sign-in=[\w-]{22}; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    );
  });

  it('lets a browser keep its cookie, so that two tabs do not disturb each other', async () => {
    const { cookie } = await Visit.begin(site);
    const { headers } = await site.ask(authorizePath(), { headers: { cookie: `other=1; ${cookie}` } });
    expect(headers['set-cookie']?.[0]).to.contain(`${cookie};`);
  });

  it('takes the request as a form as well', async () => {
    const { status, text } = await site.ask('/oauth/authorize', { form: REQUEST });
    expect(status).to.equal(200);
    expect(text).to.contain('The Console');
  });

  it('puts the name that the client suggests into the field, as text', async () => {
    const { text } = await site.ask(authorizePath({ login_hint: '"><b>alice' }));
    expect(text).to.contain('value="&quot;&gt;&lt;b&gt;alice"');
    const long = await site.ask(authorizePath({ login_hint: '<'.repeat(1_000) }));
    expect(long.text).to.contain(`value="${'&lt;'.repeat(253)}"`);
  });

  it('takes a port of the own choice of a program on the same machine', async () => {
    const visit = await Visit.begin(site, {
      client_id: 'cli',
      redirect_uri: 'http://127.0.0.1:43210/callback',
    });
    expect((await visit.signIn()).headers.location).to.match(/^http:\/\/127\.0\.0\.1:43210\/callback\?code=/);
  });

  describe('tells the person, and sends the browser nowhere', () => {
    const faults: Record<string, string> = {
      'an unknown client': authorizePath({ client_id: 'nobody' }),
      'no client': authorizePath({ client_id: undefined }),
      'an unregistered redirect URI': authorizePath({ redirect_uri: `${REDIRECT}/` }),
      'a redirect URI of another client': authorizePath({ client_id: 'cli' }),
      'an unregistered redirect URI, whatever a client would be told': authorizePath({
        redirect_uri: 'https://evil.example/',
        response_type: 'token',
      }),
      'an unregistered redirect URI, without being shown': authorizePath({
        redirect_uri: 'https://evil.example/',
        prompt: 'none',
      }),
      'no redirect URI': authorizePath({ redirect_uri: undefined }),
      'a repeated parameter': `${authorizePath()}&state=again`,
      'a repeated redirect URI': `${authorizePath()}&redirect_uri=https%3A%2F%2Fevil.example`,
      'a state without measure': authorizePath({ state: 'x'.repeat(4097) }),
      'an unknown client, without being shown': authorizePath({ client_id: undefined, prompt: 'none' }),
    };
    for (const [fault, path] of Object.entries(faults)) {
      it(`of ${fault}`, async () => {
        const { status, headers, text } = await site.ask(path);
        expect(status).to.equal(400);
        expect(headers.location).to.equal(undefined);
        expect(headers['content-type']).to.equal('text/html; charset=utf-8');
        expect(headers['content-security-policy']).to.contain("default-src 'none'");
        expect(text).to.contain('<h1>Sign-in cannot continue</h1>').and.not.to.contain('<form');
      });
    }
  });

  it('takes an address of 16 KiB, and tells the person of a longer one', async () => {
    const [path = '', query = ''] = `${authorizePath()}&unknown=`.split('?');
    const fitting = `${path}?${query.padEnd(16 * 1024, 'x')}`;
    expect((await site.ask(fitting)).status).to.equal(200);
    const { status, headers, text } = await site.ask(`${fitting}x`);
    expect(status).to.equal(414);
    expect(headers.location).to.equal(undefined);
    expect(text).to.contain('The address is too long.').and.not.to.contain('<form');
  });

  describe('tells the client, which learns who says so', () => {
    const faults: Record<string, [Record<string, string | undefined>, string]> = {
      'that the client may not use codes': [{ client_id: 'machine' }, 'unauthorized_client'],
      'that there is no response type': [{ response_type: undefined }, 'invalid_request'],
      'that only codes are given out': [{ response_type: 'none' }, 'unsupported_response_type'],
      'that answers come in the query': [{ response_mode: 'form_post' }, 'invalid_request'],
      'that a scope is not allowed': [{ scope: 'root' }, 'invalid_scope'],
      'that PKCE is required': [{ code_challenge: undefined }, 'invalid_request'],
      'that plain is refused': [{ code_challenge_method: 'plain' }, 'invalid_request'],
      'that no method means plain': [{ code_challenge_method: undefined }, 'invalid_request'],
      'that plain is refused of who is let off PKCE too': [
        { client_id: 'old', code_challenge_method: 'plain' },
        'invalid_request',
      ],
      'that a method without a challenge is half of PKCE, also of who is let off': [
        { client_id: 'old', code_challenge: undefined },
        'invalid_request',
      ],
      'that the challenge is malformed': [{ code_challenge: 'x' }, 'invalid_request'],
      'that nobody can sign in unseen': [{ prompt: 'none' }, 'login_required'],
      'that none stands alone': [{ prompt: 'none login' }, 'invalid_request'],
      'that request objects are not read': [{ request: 'e30.e30.' }, 'request_not_supported'],
      'that no request is fetched': [{ request_uri: 'https://x.example' }, 'request_uri_not_supported'],
      'that nobody registers here': [{ registration: '{}' }, 'registration_not_supported'],
      'that a nonce has an end': [{ nonce: 'n'.repeat(513) }, 'invalid_request'],
    };
    for (const [fault, [changes, code]] of Object.entries(faults)) {
      it(fault, async () => {
        const answer = await site.ask(authorizePath(changes));
        const back = sentBack(answer);
        expect(answer.headers.location).to.match(/^https:\/\/console\.example\.com\/callback\?error=/);
        expect(back.get('error')).to.equal(code);
        expect(back.get('state')).to.equal(REQUEST['state']);
        expect(back.get('iss')).to.equal(ISSUER);
        expect(back.get('error_description')).to.match(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
      });
    }
  });

  describe('tells the client where it looks, in the fragment,', () => {
    for (const [changes, code] of [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ response_type: 'id_token token' }, 'unsupported_response_type'],
      [{ response_type: 'code id_token' }, 'unsupported_response_type'],
      [{ response_mode: 'fragment' }, 'invalid_request'],
    ] as const) {
      it(`that nothing else is given out than codes in the query (${Object.values(changes).join()})`, async () => {
        const { status, headers } = await site.ask(authorizePath(changes));
        expect(status).to.equal(303);
        const { search, hash } = new URL(headers.location ?? '');
        const back = Object.fromEntries(new URLSearchParams(hash.slice(1)));
        expect([search, back['error']]).to.deep.equal(['', code]);
        expect(back).to.include({ state: REQUEST['state'], iss: ISSUER });
      });
    }
  });

  it('shows a form without PKCE to clients only that are let off it', async () => {
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    await Visit.begin(site, { ...without, client_id: 'old' });
    expect(sentBack(await site.ask(authorizePath(without))).get('error_description')).to.contain('PKCE');
  });

  it('sends no state back when none came', async () => {
    expect(
      sentBack(await site.ask(authorizePath({ state: undefined, prompt: 'none' }))).has('state'),
    ).to.equal(false);
  });

  it('meets a wish for a new sign-in, since each request asks for the password', async () => {
    for (const prompt of ['login', 'consent', 'login consent']) await Visit.begin(site, { prompt });
  });

  it('asks for the password again from a browser that has just signed in', async () => {
    const visit = await Visit.begin(site);
    await visit.signIn();
    const { status, text } = await site.ask(authorizePath(), { headers: { cookie: visit.cookie } });
    expect(status).to.equal(200);
    expect(text).to.contain('type="password"');
  });

  it('asks for no password over plain HTTP, unless a proxy says that it speaks TLS in front', async () => {
    const plain = await SignInSite.start(site.state, { secure: false });
    try {
      const { status, text } = await plain.ask(authorizePath());
      expect(status).to.equal(400);
      expect(text).to.contain('over HTTPS only').and.not.to.contain('<form');
      expect((await plain.ask('/oauth/sign-in', { form: {} })).status).to.equal(400);
      const proxied = await plain.ask(authorizePath(), { headers: { 'x-forwarded-proto': 'https' } });
      expect(proxied.text).to.contain('type="password"');
    } finally {
      await plain.close();
    }
  });

  it('answers HEAD as GET, without the page', async () => {
    const { status, headers, text } = await site.ask(authorizePath(), { method: 'HEAD' });
    expect([status, text]).to.deep.equal([200, '']);
    expect(headers).to.include.keys('content-length', 'content-security-policy', 'set-cookie');
    const refused = await site.ask(authorizePath({ scope: 'everything' }), { method: 'HEAD' });
    expect(refused.headers['location']).to.contain('error=invalid_scope');
  });

  it('serves GET, HEAD and POST only', async () => {
    const { status, headers } = await site.ask(authorizePath(), { method: 'PUT' });
    expect(status).to.equal(405);
    expect(headers['allow']).to.equal('GET, HEAD, POST');
  });

  it('has a style that browsers may keep for minutes', async () => {
    const { status, headers, text } = await site.ask('/oauth/page.css');
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('text/css; charset=utf-8');
    expect(text).to.contain('color-scheme: light dark');
    const again = await site.ask('/oauth/page.css', { headers: { 'if-none-match': headers.etag ?? '' } });
    expect(again.status).to.equal(304);
    const head = await site.ask('/oauth/page.css', { method: 'HEAD' });
    expect(head.status).to.equal(200);
    expect(head.text).to.equal('');
    expect((await site.ask('/oauth/page.css', { method: 'POST' })).headers.allow).to.equal('GET, HEAD');
  });
});
