// Tests of second factors at the sign-in pages, over HTTP, with all state in memory. test/integration has them with replicas of
// the server and a cluster.
import { request as httpsRequest } from 'node:https';
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../../apis/meta/v1/errors.ts';
import { type Factors, NO_FACTORS } from '../../../../../../server/oauth/factors/authenticators-store.ts';
import { hashOfCode, newRecoveryCode } from '../../../../../../server/oauth/factors/recovery-codes.ts';
import { byIdentity } from '../../../../../../server/oauth/sessions/proof.ts';
import type { StoredSession } from '../../../../../../server/oauth/sessions/session.ts';
import { addApp, codeOf, recoveryCodesOn, secretOn } from '../../../../../support/oauth/second-factors.ts';
import { ISSUER, SignInSite } from '../../../../../support/oauth/sign-in-site.ts';
import { PASSWORD, SiteState } from '../../../../../support/oauth/sign-in-state.ts';
import { EXCHANGE, sentBack } from '../../../../../support/oauth/sign-in-visit.ts';
import { SiteBrowser } from '../../../../../support/oauth/site-browser.ts';
import { expectPage, type SiteResponse } from '../../../../../support/oauth/site-request.ts';
import { SoftwarePasskey } from '../../../../../support/oauth/software-passkey.ts';
import { until } from '../../../../../support/until.ts';

const ALICE = { name: 'alice', uid: 'uid-of-alice' };
const STEP_MS = 30_000;
const ORIGIN = new URL(ISSUER).origin;
const WRONG = 'This code is wrong, or was already used.';
const PASSWORD_GRANT = {
  grant_type: 'password',
  client_id: 'machine',
  client_secret: 'secret of machine',
  username: 'alice',
};

describe('a second factor', () => {
  let state: SiteState;
  let site: SignInSite;
  let browser: SiteBrowser;
  let secret: string;
  let recovery: readonly string[];

  beforeEach(async () => {
    state = await SiteState.make();
    site = await SignInSite.start(state);
    browser = new SiteBrowser(site);
    recovery = [newRecoveryCode(), newRecoveryCode()];
  });
  afterEach(() => site.close());

  /** Gives alice an authenticator app and recovery codes. */
  const addAppOfAlice = async (): Promise<void> => {
    secret = await addApp(
      state,
      ALICE,
      recovery.map((each) => ({ hash: hashOfCode(each) })),
    );
  };
  const code = (steps = 0): string => codeOf(secret, state.now + steps * STEP_MS);
  const claimsOf = async (response: SiteResponse): Promise<Record<string, unknown>> => {
    const { json } = await site.token({ ...EXCHANGE, code: sentBack(response).get('code') ?? '' });
    const payload = String(json['id_token']).split('.')[1] ?? '';
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
  };

  const refresh = (tokens: Record<string, unknown>) =>
    site.token({
      grant_type: 'refresh_token',
      client_id: 'console',
      refresh_token: String(tokens['refresh_token']),
    });

  describe('of a user with an authenticator app', () => {
    beforeEach(addAppOfAlice);

    it('is asked for after the right password only, and completes the sign-in', async () => {
      await browser.authorize();
      const wrong = await browser.submit({ username: 'alice', password: 'not the password' });
      expect(wrong.text).to.include('User name or password is wrong.').and.not.include('authenticator');
      const page = await browser.submit({ username: 'alice', password: PASSWORD });
      expect([page.status, browser.cookies.has('__Host-session')]).to.deep.equal([200, false]);
      expect(page.text).to.include('Code of your authenticator app').and.not.include(secret);
      const { amr, auth_time } = await claimsOf(await browser.submit({ code: code() }));
      expect(amr).to.deep.equal(['pwd', 'otp', 'mfa']);
      expect(auth_time).to.equal(Math.floor(state.now / 1000));
      expect(browser.cookies.has('__Host-session')).to.equal(true);
    });

    it('accepts each time step once, not an earlier one, and one step of difference between clocks', async () => {
      const enter = async (typed: string): Promise<SiteResponse> => {
        await browser.signIn();
        return browser.submit({ code: typed });
      };
      expect((await enter(code(-2))).status).to.equal(400);
      expect((await enter(code(2))).status).to.equal(400);
      expect((await enter(`${code(1).slice(0, 3)} ${code(1).slice(3)}`)).status).to.equal(303);
      for (const used of [code(1), code(), code(-1)]) {
        expectPage(await enter(used), 400, WRONG);
      }
      state.now += 2 * STEP_MS;
      expect((await enter(code())).status).to.equal(303);
    });

    it('accepts a code once when two replicas get it at the same time', async () => {
      await using other = await SignInSite.start(state);
      const browsers = [browser, new SiteBrowser(other), new SiteBrowser(site), new SiteBrowser(other)];
      for (const each of browsers) await each.signIn();
      const typed = code();
      const statuses = await Promise.all(
        browsers.map(async (each) => (await each.submit({ code: typed })).status),
      );
      expect(statuses).to.have.members([303, 400, 400, 400]);
    });

    it('accepts each recovery code once, in any spelling, and does not ask for it first', async () => {
      const page = await browser.signIn();
      expect(page.text).to.include('inputmode="numeric"');
      const asked = await browser.submit({ method: 'recovery' });
      expect(asked.text).to.include('Recovery code').and.include('Use the authenticator app');
      const typed = ` ${recovery[0]?.toUpperCase().replaceAll('-', ' ')}`;
      expect((await claimsOf(await browser.submit({ code: typed })))['amr']).to.deep.equal(['pwd', 'mfa']);
      expect(state.authenticators.of(ALICE).recoveryCodes).to.deep.equal([
        { hash: hashOfCode(recovery[1] ?? '') },
      ]);
      await browser.signIn();
      expectPage(await browser.submit({ code: recovery[0] ?? '', with: 'recovery' }), 400, WRONG);
    });

    it('delays further codes of the user, of all sessions and with a right password', async () => {
      for (let count = 0; count < 5; count++) {
        const each = new SiteBrowser(site);
        await each.signIn();
        expect((await each.submit({ code: '000000' })).status).to.equal(400);
      }
      const page = await browser.signIn();
      expect(page.status, 'the password is not throttled').to.equal(200);
      const { status, headers, text } = await browser.submit({ code: code() });
      expect([status, headers['retry-after']]).to.deep.equal([429, '1']);
      expect(text).to.include('Too many attempts.');
      expect(state.records.at(-1)).to.include({
        method: 'second_factor',
        outcome: 'throttled',
        user: 'alice',
      });
      state.now += 1_000;
      expect((await browser.submit({ code: code() })).status).to.equal(303);
      expect(state.records.at(-1)).to.include({ outcome: 'success' });
    });

    it('lets no attacker who has the password lock the user out of a recovery code', async () => {
      await browser.signIn();
      for (const typed of ['000 000', 'wrong-recovery-code']) {
        for (let count = 0; count < 12; count++) await browser.submit({ code: typed });
        expect((await browser.submit({ code: typed })).status, 'the delay of the attacker').to.equal(429);
      }
      state.source = '198.51.100.9';
      const owner = new SiteBrowser(site);
      await owner.signIn();
      expect((await owner.submit({ code: code() })).status).to.equal(429);
      expect((await owner.submit({ code: recovery[0] ?? '' })).status).to.equal(303);
    });

    it('counts a wrong code although its browser disconnects', async () => {
      await browser.signIn();
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      state.authenticators.meanwhile = () => {
        reached.resolve();
        return released.promise;
      };
      const ticket = /name="ticket" value="([^"]+)"/.exec(browser.page)?.[1] ?? '';
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const sent = httpsRequest(`${site.origin}/oauth/sign-in`, {
        method: 'POST',
        rejectUnauthorized: false,
        headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      });
      sent.on('error', () => undefined);
      sent.end(new URLSearchParams({ ticket, code: '000000' }).toString());
      await reached.promise;
      sent.destroy();
      await site.ask('/oauth/page.css');
      released.resolve();
      await until(() => state.records.length > 0);
      expect(state.records.at(-1)).to.include({ method: 'second_factor', outcome: 'wrong_code' });
    });

    it('is recorded in the audit log although the wrong code cannot be counted for all replicas', async () => {
      await browser.signIn();
      const attempt = state.factorThrottle.attempt.bind(state.factorThrottle);
      state.factorThrottle.attempt = async (...of) => {
        const counted = await attempt(...of);
        counted.failed = () => Promise.reject(newServiceUnavailable('no', 1));
        return counted;
      };
      expect((await browser.submit({ code: '000000' })).status).to.equal(503);
      expect(state.records.at(-1)).to.include({ method: 'second_factor', outcome: 'wrong_code' });
    });

    it('is not verified while its attempt cannot be counted for all replicas', async () => {
      await browser.signIn();
      const attempt = state.factorThrottle.attempt.bind(state.factorThrottle);
      state.factorThrottle.attempt = () =>
        Promise.reject(newServiceUnavailable('cannot count the attempt', 1));
      const { status, text } = await browser.submit({ code: code() });
      expect(status).to.equal(503);
      expect(text).to.include('wait a moment and try again');
      state.factorThrottle.attempt = attempt;
      await browser.signIn();
      expect((await browser.submit({ code: code() })).status, 'not used up').to.equal(303);
    });

    it('cannot be bypassed by the password grant, which names the cure after the right password', async () => {
      const right = await site.token({ ...PASSWORD_GRANT, password: PASSWORD });
      expect([right.status, right.json['error']]).to.deep.equal([400, 'invalid_grant']);
      expect(right.json['error_description']).to.include('a second factor is required');
      const wrong = await site.token({ ...PASSWORD_GRANT, password: 'not the password' });
      expect(wrong.json['error_description']).to.equal('the user name or the password is wrong');
      const spoiled = await site.token({ ...PASSWORD_GRANT, password: `${PASSWORD}${code()}` });
      expect(spoiled.json['error_description']).to.equal('the user name or the password is wrong');
    });

    it('is asked for by the device flow', async () => {
      const form = { client_id: 'cli', scope: 'openid' };
      const { text } = await site.ask('/oauth/device_authorization', { form });
      const { user_code, device_code } = JSON.parse(text) as Record<string, string>;
      await browser.ask(`/oauth/device?user_code=${user_code}`);
      const page = await browser.submit({ username: 'alice', password: PASSWORD });
      expect(page.text).to.include('Code of your authenticator app');
      const poll = {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: 'cli',
        device_code: device_code ?? '',
      };
      expect((await site.token(poll)).json['error']).to.equal('authorization_pending');
      expect((await browser.submit({ code: code() })).text).to.include('Device connected');
      expect((await site.token(poll)).status).to.equal(200);
    });

    it('is not skipped by a ticket of another browser, an old one, or one of another form', async () => {
      await browser.signIn();
      const { page } = browser;
      const thief = new SiteBrowser(site);
      await thief.authorize();
      thief.page = page;
      expect((await thief.submit({ code: code() })).text).to.include('Please sign in once more');
      const form = { ticket: /name="ticket" value="([^"]+)"/.exec(page)?.[1] ?? '', code: code() };
      for (const path of ['/oauth/device/sign-in', '/account/sign-in', '/oauth/choice']) {
        expect((await browser.ask(path, { form })).status, path).to.equal(403);
      }
      browser.page = page;
      expect((await browser.submit({ code: code() }, { 'sec-fetch-site': 'cross-site' })).status).to.equal(
        403,
      );
      state.now += 5 * 60_000;
      browser.page = page;
      expect((await browser.submit({ code: code() })).text).to.include('open for too long');
    });

    it('does not help with a password that was changed, or a user who was disabled or recreated', async () => {
      const [alice, credential] = [state.accounts.get('alice'), state.credentials.get('alice')];
      if (!alice || !credential) throw new Error('there is no alice');
      const changes = [
        () => void state.accounts.set('alice', { ...alice, disabled: true }),
        () => void state.accounts.set('alice', { ...alice, uid: 'another' }),
        () => state.credentials.set('alice', { ...credential, changedAt: state.now }),
      ];
      for (const change of changes) {
        state.now += 2 * STEP_MS;
        await browser.signIn();
        await change();
        const response = await browser.submit({ code: code() });
        const parameters = response.status === 303 ? sentBack(response) : new URLSearchParams();
        const { status } = await site.token({ ...EXCHANGE, code: parameters.get('code') ?? '' });
        expect(status).to.equal(400);
        state.accounts.set('alice', alice);
      }
    });

    it('lets no thief of an earlier password, who keeps the page open, delay the user or try codes', async () => {
      const credential = state.credentials.get('alice');
      if (!credential) throw new Error('there is no alice');
      state.source = '198.51.100.9';
      await browser.signIn();
      await state.credentials.set('alice', { ...credential, changedAt: state.now });
      const { page } = browser;
      const right = code();
      for (const typed of [...Array<string>(6).fill('000000'), right]) {
        browser.page = page;
        expect((await browser.submit({ code: typed })).text).to.include('type="password"');
      }
      browser.page = page;
      expect((await browser.submit({ method: 'recovery' })).text).to.include('type="password"');
      state.source = '203.0.113.7';
      const owner = new SiteBrowser(site);
      await owner.signIn();
      expect((await owner.submit({ code: right })).status).to.equal(303);
    });

    it('comes before the change of a password that an administrator has set', async () => {
      await state.add('alice', { mustChange: true });
      const page = await browser.signIn();
      expect(page.text).to.include('Code of your authenticator app');
      expect((await browser.submit({ code: code() })).text).to.include('Choose a new password');
      const next = { new_password: 'another good password', repeated: 'another good password' };
      expect((await claimsOf(await browser.submit(next)))['amr']).to.deep.equal(['pwd', 'otp', 'mfa']);
    });

    const oneTimeCode: Factors = { passkeys: [], recoveryCodes: [{ hash: hashOfCode(newRecoveryCode()) }] };
    for (const [what, remaining] of [
      ['deleted', NO_FACTORS],
      ['replaced by a one-time code', oneTimeCode],
    ] as const) {
      it(`ends the sessions that began with it when it is ${what}`, async () => {
        await browser.signIn();
        const redirect = await browser.submit({ code: code() });
        const { json } = await site.token({ ...EXCHANGE, code: sentBack(redirect).get('code') ?? '' });
        await state.authenticators.update(ALICE, () => remaining);
        expect((await refresh(json)).json['error']).to.equal('invalid_grant');
        await browser.authorize();
        expect(browser.page).to.include('type="password"');
      });
    }

    it('is needed within the last minutes to change the password on the account page', async () => {
      await browser.signIn();
      await browser.submit({ code: code() });
      state.now += 11 * 60_000;
      await browser.ask('/account');
      const changed = { new_password: 'another good password', repeated: 'another good password' };
      expectPage(
        await browser.submitTo('/account/password', { password: PASSWORD, ...changed }),
        400,
        'Sign in again to change your password.',
      );
      await browser.submit({ username: 'alice', password: PASSWORD });
      expect(browser.page).to.include('Code of your authenticator app');
      await browser.submit({ code: code() });
      await browser.ask('/account');
      const done = await browser.submitTo('/account/password', { password: PASSWORD, ...changed });
      expect(done.headers.location).to.equal('/account?user=alice&done=password');
    });

    it('cancels the sign-in', async () => {
      await browser.signIn();
      expect(sentBack(await browser.submit({ decision: 'cancel' })).get('error')).to.equal('access_denied');
    });

    it('never puts a secret into a page, an address or a record', async () => {
      await browser.signIn();
      await browser.submit({ code: '123123' });
      const written = [browser.page, JSON.stringify(state.records)].join();
      for (const hidden of [secret, '123123', ...recovery]) expect(written).to.not.include(hidden);
    });
  });

  describe('that a user has added after the sign-in', () => {
    it('ends the sessions without it: of browsers, programs, codes and devices', async () => {
      const refreshed = await browser.signIn();
      const { json } = await site.token({ ...EXCHANGE, code: sentBack(refreshed).get('code') ?? '' });
      const unused = sentBack(await browser.authorize()).get('code') ?? '';
      await addAppOfAlice();
      const refresh = {
        grant_type: 'refresh_token',
        client_id: 'console',
        refresh_token: String(json['refresh_token']),
      };
      expect((await site.token(refresh)).json['error']).to.equal('invalid_grant');
      expect((await site.token({ ...EXCHANGE, code: unused })).json['error']).to.equal('invalid_grant');
      expect(sentBack(await browser.authorize({ prompt: 'none' })).get('error')).to.equal('login_required');
      expect((await browser.ask('/account')).text).to.include('<h1>Sign in</h1>');
    });
  });

  describe('that the configuration requires for a group', () => {
    beforeEach(() => {
      state.secondFactor = { groups: ['developers'], providers: [], enrolmentPeriod: 86_400_000 };
    });
    const restart = async (): Promise<void> => {
      await site.close();
      site = await SignInSite.start(state);
      browser = new SiteBrowser(site);
    };

    it('is added at a sign-in, with recovery codes that are shown once', async () => {
      await restart();
      const page = await browser.signIn();
      expect(page.text).to.include('Your account needs a second factor.').and.include('<svg');
      const added = secretOn(page.text);
      expect(page.text).to.include(`otpauth://totp/`).and.include(`secret=${added}`);
      const wrong = await browser.submit({ code: '000000' });
      expect([wrong.status, secretOn(wrong.text)]).to.deep.equal([400, added]);
      const shown = await browser.submit({ code: codeOf(added, state.now) });
      const codes = recoveryCodesOn(shown.text);
      expect(new Set(codes).size).to.equal(10);
      expect(state.authenticators.of(ALICE).totp, 'nothing is stored yet').to.equal(undefined);
      expect((await claimsOf(await browser.submit({})))['amr']).to.deep.equal(['pwd', 'otp', 'mfa']);
      const { totp, recoveryCodes } = state.authenticators.of(ALICE);
      expect(JSON.stringify([totp, recoveryCodes]))
        .to.not.include(added)
        .and.not.include(codes[0]);
      await browser.signIn();
      expect((await browser.submit({ code: codeOf(added, state.now) })).status, 'the first code').to.equal(
        400,
      );
      expect((await browser.submit({ code: codes[0] ?? '' })).status).to.equal(303);
    });

    it('can be a passkey, which the user names, and the next sign-in asks for', async () => {
      await restart();
      const app = await browser.signIn();
      expect(app.text).to.include('Add a passkey instead');
      const page = await browser.submit({ method: 'passkey' });
      expect(page.text).to.include('Your account needs a second factor.').and.include('Add a passkey');
      expect((await browser.submit({ method: 'app' })).text).to.include('Add an authenticator app');
      await browser.submit({ method: 'passkey' });
      const passkey = new SoftwarePasskey(ORIGIN);
      expectPage(
        await browser.submit({ name: ' ', passkey: passkey.create(browser.page) }),
        400,
        'Enter a name for the passkey.',
      );
      const shown = await browser.submit({ name: 'My key', passkey: passkey.create(browser.page) });
      expect(recoveryCodesOn(shown.text)).to.have.length(10);
      expect(state.authenticators.of(ALICE), 'nothing is stored yet').to.equal(NO_FACTORS);
      const { amr } = await claimsOf(await browser.submit({}));
      expect(amr).to.deep.equal(['pwd', 'hwk', 'user', 'mfa']);
      const { passkeys, totp, recoveryCodes } = state.authenticators.of(ALICE);
      expect(passkeys.map(({ name }) => name)).to.deep.equal(['My key']);
      expect([totp, recoveryCodes.length]).to.deep.equal([undefined, 10]);
      await browser.signIn();
      expect((await browser.submit({ passkey: passkey.get(browser.page) })).status).to.equal(303);
    });

    it('is no passkey of another page, another browser or without the user, and no second one', async () => {
      await restart();
      const visit = async (each: SiteBrowser): Promise<string> => {
        await each.signIn();
        return (await each.submit({ method: 'passkey' })).text;
      };
      const other = new SiteBrowser(site);
      const foreign = await visit(other);
      const page = await visit(browser);
      const passkey = new SoftwarePasskey(ORIGIN);
      for (const response of [
        passkey.create(foreign),
        passkey.create(page, { origin: 'https://localhost.example.com' }),
        passkey.create(page, { rpId: 'example.com' }),
        passkey.create(page, { userVerified: false }),
        passkey.create(page, { crossOrigin: true }),
        passkey.create(page, {}, 'packed'),
        '',
      ]) {
        browser.page = page;
        expectPage(
          await browser.submit({ name: 'a', passkey: response }),
          400,
          'The passkey was not accepted.',
        );
      }
      const stolen = new SiteBrowser(site);
      stolen.page = page;
      await stolen.submit({ name: 'a', passkey: passkey.create(page) });
      expect(state.authenticators.of(ALICE)).to.equal(NO_FACTORS);
      for (const each of [browser, other]) {
        each.page = each === browser ? page : foreign;
        await each.submit({ name: 'a', passkey: new SoftwarePasskey(ORIGIN).create(each.page) });
      }
      expect((await browser.submit({})).status).to.equal(303);
      expect((await other.submit({})).text).to.include('were changed in the meantime');
      expect(state.authenticators.of(ALICE).passkeys).to.have.length(1);
    });

    it('is added by the first of several browsers only, and each of their pages once', async () => {
      await restart();
      const other = new SiteBrowser(site);
      for (const each of [browser, other]) {
        const page = await each.signIn();
        await each.submit({ code: codeOf(secretOn(page.text), state.now) });
      }
      const { page } = browser;
      expect((await browser.submit({})).status).to.equal(303);
      for (const each of [other, browser]) {
        each.page = each === browser ? page : each.page;
        expect((await each.submit({})).text).to.include('were changed in the meantime');
      }
    });

    it('is not added by a thief whose password was changed, or whose user was disabled, meanwhile', async () => {
      await restart();
      const alice = state.accounts.get('alice');
      const credential = state.credentials.get('alice');
      if (!alice || !credential) throw new Error('no alice');
      for (const meanwhile of [
        () => state.accounts.set('alice', { ...alice, disabled: true }),
        () => state.credentials.set('alice', { ...credential, changedAt: state.now }),
      ]) {
        const page = await browser.signIn();
        const added = secretOn(page.text);
        await browser.submit({ code: codeOf(added, state.now) });
        await meanwhile();
        expect((await browser.submit({})).text).to.include('Please sign in again.');
        expect(state.authenticators.of(ALICE)).to.equal(NO_FACTORS);
        state.accounts.set('alice', alice);
      }
    });

    it('cannot be added after the period, and the page names the cure', async () => {
      await restart();
      state.createdAt = state.now - 86_400_000;
      expectPage(await browser.signIn(), 400, 'Ask an administrator of this platform for a one-time code');
      const { json } = await site.token({ ...PASSWORD_GRANT, password: PASSWORD });
      expect(json['error_description']).to.include('a second factor is required');
    });

    it('cannot be added after the period by a browser that keeps the page open by submitting it', async () => {
      await restart();
      const pageLasts = 14 * 60_000;
      state.createdAt = state.now + 2 * pageLasts - 86_400_000;
      await browser.signIn();
      state.now += pageLasts;
      expect((await browser.submit({ method: 'app' })).text).to.include('Add an authenticator app');
      state.now += pageLasts;
      const late = await browser.submit({ code: codeOf(secretOn(browser.page), state.now) });
      expect(late.text).to.include('Please sign in again.');
      expect((await browser.signIn()).text).to.include('Ask an administrator');
      expect(state.authenticators.of(ALICE)).to.equal(NO_FACTORS);
    });

    it('is added with a one-time code, which is valid until then, and expires', async () => {
      await restart();
      state.createdAt = 0;
      const [once = ''] = recovery;
      const notAfter = new Date(state.now + 3_600_000).toISOString();
      await state.authenticators.update(ALICE, () => ({
        passkeys: [],
        recoveryCodes: [{ hash: hashOfCode(once), notAfter }],
      }));
      for (const isLast of [false, true]) {
        const asked = await browser.signIn();
        expect(asked.text).to.include('a one-time code of an administrator');
        const page = await browser.submit({ code: once });
        expect(page.text).to.include('Add an authenticator app');
        if (!isLast) continue;
        await browser.submit({ code: codeOf(secretOn(page.text), state.now) });
        expect((await browser.submit({})).status).to.equal(303);
      }
      expect(state.authenticators.of(ALICE).recoveryCodes).to.have.length(10);
      await state.authenticators.update(ALICE, () => ({
        passkeys: [],
        recoveryCodes: [{ hash: hashOfCode(once), notAfter }],
      }));
      state.now += 3_600_000;
      await browser.signIn();
      expect((await browser.submit({ code: once })).text).to.include(WRONG);
    });

    it('ends sessions from before the configuration, also at a refresh', async () => {
      state.secondFactor = { groups: [], providers: [], enrolmentPeriod: 0 };
      await restart();
      const { json } = await site.token({
        ...EXCHANGE,
        code: sentBack(await browser.signIn()).get('code') ?? '',
      });
      state.secondFactor = { groups: ['developers'], providers: [], enrolmentPeriod: 0 };
      await restart();
      expect((await refresh(json)).json['error']).to.equal('invalid_grant');
    });

    it('is asked for when the identity provider has added the person to a group, before anything has that group', async () => {
      const identity = { name: 'i-1', uid: 'uid-of-i-1', provider: 'company', issuer: '', subject: '' };
      const { name: user, uid: userUID } = ALICE;
      state.secondFactor = { groups: ['operators'], providers: [], enrolmentPeriod: 0 };
      state.identities = { synced: true, get: () => ({ ...identity, user, userUID, displayName: '' }) };
      await restart();
      const exchanged = await site.token({
        ...EXCHANGE,
        code: sentBack(await browser.signIn()).get('code') ?? '',
      });
      const ofPerson = (session: StoredSession, groups: readonly string[]): StoredSession => {
        const { name, uid } = identity;
        const proof = { kind: 'identity', name, uid, groups, checkedAt: state.now } as const;
        const password = state.credentials.get(user);
        return { ...session, authentication: byIdentity(proof, password, state.now) };
      };
      for (const session of site.store.ofUser(user)) await site.store.replace(ofPerson(session, []));
      state.freshness = { renewed: async (session) => ofPerson(session, ['developers']) };
      const { status, json } = await refresh(exchanged.json);
      expect(status).to.equal(200);
      expect(sentBack(await browser.authorize()).has('code')).to.equal(true);
      state.freshness = { renewed: async (session) => ofPerson(session, ['operators']) };
      expect((await refresh(json)).json['error']).to.equal('invalid_grant');
      await browser.authorize();
      expect(browser.page).to.include('type="password"');
    });
  });
});
