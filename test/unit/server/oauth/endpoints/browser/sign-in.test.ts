// Tests of the sign-in form.
import { expect } from 'chai';
import { newServiceUnavailable, newTooManyRequests } from '../../../../../../apis/meta/v1/errors.ts';
import { NO_CLIENT } from '../../../../../../server/oauth/sessions/session.ts';
import { ISSUER, SignInSite } from '../../../../../support/oauth/sign-in-site.ts';
import { PASSWORD, SIGNED_OUT, SiteState } from '../../../../../support/oauth/sign-in-state.ts';
import {
  authorizePath,
  codeFor,
  EXCHANGE,
  REQUEST,
  sentBack,
  Visit,
} from '../../../../../support/oauth/sign-in-visit.ts';

describe('the sign-in form', () => {
  let state: SiteState;
  let site: SignInSite;
  let visit: Visit;
  before(async () => {
    state = await SiteState.make();
    site = await SignInSite.start(state);
  });
  after(() => site.close());
  beforeEach(async () => {
    state.sessions.objects.clear();
    state.throttled = undefined;
    visit = await Visit.begin(site);
  });

  it('redirects with code, state and issuer by 303, and begins the session at the exchange of the code', async () => {
    const response = await visit.send({ username: 'alice', password: PASSWORD }, { 'user-agent': 'Firefox' });
    const back = sentBack(response);
    expect([...back.keys()]).to.deep.equal(['code', 'state', 'iss']);
    const code = back.get('code') ?? '';
    expect(code).to.match(/^pac_[\w.:-]+$/);
    expect(back.get('state')).to.equal(REQUEST['state']);
    expect(back.get('iss')).to.equal(ISSUER);
    expect(response.headers).to.include({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    expect(state.sessions.ofClients).to.deep.equal([]);
    const { json } = await site.token({ ...EXCHANGE, code });
    const objects = [...state.sessions.objects.values()];
    const [browser, session] = [
      objects.find(({ clientID }) => clientID === NO_CLIENT),
      ...state.sessions.ofClients,
    ];
    expect(session).to.deep.include({
      user: 'alice',
      clientID: 'console',
      source: '192.0.2.7',
      userAgent: 'Firefox',
      browser: browser?.id,
      createdAt: state.now,
      scopes: ['openid', 'email'],
    });
    for (const secret of [code, String(json['refresh_token'])]) {
      expect(JSON.stringify(objects)).not.to.contain(secret.slice(-43));
    }
  });

  it('leaves nothing to end for a sign-out without a hint: the browser needs the password again', async () => {
    await visit.signIn();
    const inBrowser = { headers: { cookie: visit.cookie } };
    const query = new URLSearchParams({
      client_id: 'console',
      post_logout_redirect_uri: SIGNED_OUT,
      state: 's',
    });
    const { status, headers } = await site.ask(`/oauth/logout?${query.toString()}`, inBrowser);
    expect([status, headers.location]).to.deep.equal([303, `${SIGNED_OUT}?state=s`]);
    expect((await site.ask(authorizePath(), inBrowser)).text).to.contain('type="password"');
  });

  it('shows the name of the platform and the password help on every form', async () => {
    const again = await visit.send({ username: 'alice', password: '' });
    const device = await site.ask('/oauth/device');
    for (const { text } of [again, device]) {
      expect(text).to.contain('<p class="platform">Acme &lt;Cloud&gt;</p>');
    }
    expect(again.text).to.contain('>Call &lt;555&gt;.</p>');
    expect(device.text).to.contain('Eight letters: XXXX-XXXX').and.to.contain('>Continue</button>');
  });

  it('signs in only the user of an id_token_hint, with the name filled in', async () => {
    await state.add('bob');
    const { json } = await site.token({ ...EXCHANGE, code: await codeFor(site) });
    const id_token_hint = String(json['id_token']);
    const hinted = await Visit.begin(site, { id_token_hint });
    expect(hinted.response.text).to.contain('value="alice"');
    expect(sentBack(await hinted.signIn()).has('code')).to.equal(true);
    const back = sentBack(await (await Visit.begin(site, { id_token_hint })).signIn('bob'));
    expect(back.get('error')).to.equal('login_required');
    expect(back.get('state')).to.equal(REQUEST['state']);
    expect(back.has('code')).to.equal(false);
    const other = { client_id: 'cli', redirect_uri: 'http://localhost:1234' };
    for (const changes of [{ ...other, id_token_hint }, { id_token_hint: `${id_token_hint}x` }]) {
      const rejected = sentBack(await site.ask(authorizePath(changes)));
      expect(rejected.get('error')).to.equal('invalid_request');
    }
  });

  it('does not reveal whether the name or the password is wrong', async () => {
    await state.add('mallory', { disabled: true });
    const texts: string[] = [];
    for (const [user, password] of [
      ['alice', 'wrong'],
      ['nobody', PASSWORD],
      ['mallory', PASSWORD],
    ] as const) {
      const { status, text } = await visit.signIn(user, password);
      expect(status).to.equal(400);
      expect(text).to.contain('role="alert">User name or password is wrong.');
      texts.push(text.replaceAll(user, 'USER').replace(visit.ticket, 'TICKET'));
    }
    expect(new Set(texts).size).to.equal(1);
    expect(state.sessions.objects.size).to.equal(0);
  });

  it('keeps the name but not the password, marks the field, and accepts another attempt', async () => {
    const { text } = await visit.signIn('alice', 'wrong & "odd" one');
    expect(text).to.contain('<title>Error: Sign in to Acme &lt;Cloud&gt;</title>');
    expect(text)
      .to.contain('value="alice"')
      .and.not.to.contain('odd&quot; one')
      .and.not.to.contain('odd" one');
    expect(text).to.match(
      /<input id="password"[^>]*autofocus[^>]*aria-invalid="true" aria-describedby="alert"/,
    );
    expect(text).to.contain('id="alert" role="alert"');
    expect((await visit.send({ password: PASSWORD })).text).to.contain('Enter your user name.');
    expect((await visit.send({ username: 'alice' })).text).to.contain('Enter your password.');
    expect(sentBack(await visit.signIn()).has('code')).to.equal(true);
  });

  it('shows the time to wait when throttled', async () => {
    state.throttled = newTooManyRequests('too many', 90);
    const { status, headers, text } = await visit.signIn();
    expect(status).to.equal(429);
    expect(headers['retry-after']).to.equal('90');
    expect(text).to.contain('Too many attempts. Try again in 90 seconds.').and.to.contain('<form');
    state.throttled = newTooManyRequests('too many', 400);
    expect((await visit.signIn()).text).to.contain('Try again in 7 minutes.');
  });

  it('shows an error page while passwords cannot be verified', async () => {
    state.throttled = newServiceUnavailable('the cluster is unavailable', 2);
    const { status, headers, text } = await visit.signIn();
    expect(status).to.equal(503);
    expect(headers['retry-after']).to.equal('2');
    expect(text).to.contain('Try again in a moment').and.not.to.contain('cluster');
    expect(site.warnings.at(-1)).to.contain('error page sent').and.contain('the cluster is unavailable');
  });

  it('returns access_denied to the client after a cancel', async () => {
    const back = sentBack(await visit.send({ decision: 'cancel' }));
    expect(back.get('error')).to.equal('access_denied');
    expect(back.get('state')).to.equal(REQUEST['state']);
  });

  const same = (ticket: string): string => ticket;
  for (const [what, from, change] of [
    ['a form of another site', 'cross-site', same],
    ['a form of a sibling domain', 'same-site', same],
    ['a form of no page', 'none', same],
    ['an invented ticket', 'same-origin', () => 'e30.x:00'],
    ['a ticket without a MAC', 'same-origin', () => 'no-mac'],
    ['a changed MAC', 'same-origin', (ticket: string) => `${ticket}0`],
    ['a changed ticket', 'same-origin', (ticket: string) => `x${ticket}`],
  ] as const) {
    it(`is rejected with ${what}`, async () => {
      const form = { username: 'alice', password: PASSWORD, ticket: change(visit.ticket) };
      const { status, text, headers } = await visit.send(form, { 'sec-fetch-site': from });
      expect(status).to.equal(403);
      expect(headers.location).to.equal(undefined);
      expect(text).to.contain('<h1>Start again</h1>');
      expect(state.sessions.objects.size).to.equal(0);
    });
  }

  it('is rejected with the ticket of another form', async () => {
    const form = { username: 'alice', password: PASSWORD, ticket: visit.ticket };
    const headers = { cookie: visit.cookie };
    expect((await site.ask('/oauth/device/sign-in', { form, headers })).status).to.equal(403);
  });

  it('is shown again in another browser, without verifying the password', async () => {
    const own = await Visit.begin(site, { state: 'of the first tab' });
    for (const cookie of [visit.cookie, '']) {
      own.cookie = cookie;
      const { status, text, headers } = await own.signIn();
      expect(status).to.equal(400);
      expect(headers.location).to.equal(undefined);
      expect(text).to.contain('Please sign in once more.').and.to.contain('allow cookies');
      expect(state.sessions.objects.size).to.equal(0);
    }
    // Two tabs that were opened at the same time: the browser has the cookie of the second.
    own.cookie = visit.cookie;
    await own.signIn();
    expect(sentBack(await own.signIn()).get('state')).to.equal('of the first tab');
  });

  it('is shown again after thirty minutes, without verifying the password', async () => {
    state.now += 30 * 60_000;
    const { status, text } = await visit.signIn();
    expect(status).to.equal(400);
    expect(text).to.contain('This page was open for too long.');
    expect(state.sessions.objects.size).to.equal(0);
    state.now += 30 * 60_000 - 1;
    expect(sentBack(await visit.signIn()).has('code')).to.equal(true);
  });

  it('shows an error page when the redirect URI was removed from the client', async () => {
    const [client, ...others] = state.clients;
    if (!client) throw new Error('no client');
    state.clients.splice(0, 1, { ...client, redirectURIs: [] });
    try {
      const { status, headers } = await visit.signIn();
      expect(status).to.equal(400);
      expect(headers.location).to.equal(undefined);
      expect((await visit.send({ decision: 'cancel' })).status).not.to.equal(303);
    } finally {
      state.clients.splice(0, state.clients.length, client, ...others);
    }
  });

  it('accepts form POSTs only', async () => {
    const got = await site.ask('/oauth/sign-in');
    expect(got.status).to.equal(405);
    expect(got.headers['allow']).to.equal('POST');
    const headers = { 'content-type': 'application/json' };
    const json = await site.ask('/oauth/sign-in', { form: '{}', headers });
    expect(json.status).to.equal(415);
    expect(json.headers['content-type']).to.equal('text/html; charset=utf-8');
  });

  describe('with a password that must be changed', () => {
    const NEW = 'a password of my own';
    let form: Readonly<Record<string, string>>;
    beforeEach(async () => {
      await state.add('newcomer', { mustChange: true });
      await visit.signIn('newcomer');
      form = { ticket: visit.ticket, new_password: NEW, repeated: NEW };
    });

    const credential = () => state.credentials.get('newcomer');
    const isSet = (password: string): Promise<boolean> =>
      state.hasher.verify(credential()?.passwordHash, password);

    it('requires a new password, then continues', async () => {
      expect(visit.response.status).to.equal(200);
      expect(visit.response.text)
        .to.contain('<h1>Choose a new password</h1>')
        .and.contain('At least 8 characters, 4 of them different.');
      expect(state.sessions.objects.size).to.equal(0);
      const sealed = Buffer.from(visit.ticket.split('.')[0] ?? '', 'base64url').toString();
      const { content } = JSON.parse(sealed) as { content: { account: object } };
      expect(content.account).to.have.all.keys('name', 'uid');
      expect(sealed).not.to.contain(visit.cookie.split('=')[1]);
      expect(sentBack(await visit.send(form)).has('code')).to.equal(true);
      expect(credential()?.mustChange).to.equal(false);
      expect(await isSet(NEW)).to.equal(true);
      const [session] = state.sessions.all;
      expect(session?.createdAt).to.be.at.least(credential()?.changedAt ?? Infinity);
    });

    it('reports an invalid new password and accepts another', async () => {
      for (const [new_password, repeated, text] of [
        [NEW, 'another', 'The two passwords are not the same.'],
        ['short', 'short', 'must have at least 8 characters'],
        [PASSWORD, PASSWORD, 'The new password must differ from the current one.'],
        ['', '', 'must have at least 8 characters'],
        ['abababab', 'abababab', 'must have at least 4 different characters'],
      ] as const) {
        const response = await visit.send({ new_password, repeated });
        expect(response.status).to.equal(400);
        expect(response.text).to.contain(text);
      }
      expect(sentBack(await visit.send(form)).has('code')).to.equal(true);
    });

    it('accepts a password change only once, and counts the password of each repeated form as an attempt', async () => {
      await visit.send(form);
      const again = await visit.send({ ...form, new_password: `${NEW}!`, repeated: `${NEW}!` });
      expect(again.status).to.equal(400);
      expect(again.text).to.contain('Your password was changed in the meantime.');
      expect(again.text).to.contain('value="newcomer"').and.to.contain('current-password');
      expect(await isSet(NEW)).to.equal(true);
      state.throttled = newTooManyRequests('too many', 90);
      expect((await visit.send(form)).status).to.equal(429);
    });

    it('continues with the new password when the form is sent twice', async () => {
      const responses = await Promise.all([visit.send(form), visit.send(form)]);
      for (const response of [...responses, await visit.send(form)]) {
        expect(sentBack(response).has('code')).to.equal(true);
      }
    });

    it('is not kept open by rejected passwords, whose page would extend the validity of a second factor', async () => {
      for (let minutes = 0; minutes < 12; minutes += 3) {
        await visit.send({ new_password: NEW, repeated: 'another' });
        state.now += 3 * 60_000;
      }
      const response = await visit.send({ new_password: NEW, repeated: NEW });
      expect(response.status).to.equal(400);
      expect(response.text).to.contain('current-password');
      expect(await isSet(NEW)).to.equal(false);
    });

    it('requires the old password again after ten minutes, and in another browser', async () => {
      for (const [spoil, message] of [
        [() => (state.now += 10 * 60_000), 'This page was open for too long.'],
        [async () => (visit.cookie = (await Visit.begin(site)).cookie), 'Please sign in once more.'],
      ] as const) {
        await spoil();
        const { status, text } = await visit.send(form);
        expect(status).to.equal(400);
        expect(text).to.contain(message).and.to.contain('current-password');
        expect(await isSet(NEW)).to.equal(false);
      }
    });

    it('does not overwrite a password that was recreated with the same time', async () => {
      state.credentials.delete('newcomer');
      await state.add('newcomer', { mustChange: true });
      expect((await visit.send(form)).text).to.contain('in the meantime');
    });
  });
});
