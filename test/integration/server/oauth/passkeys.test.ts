// Tests of passkeys against attacks, at two replicas of the authorization server on a real control plane.
import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { array, text } from '../../../../apis/reading/unknown-value.ts';
import { PASSWORD } from '../../../support/oauth/sign-in-state.ts';
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import { expectPage } from '../../../support/oauth/site-request.ts';
import { type Claims, optionsIn, SoftwarePasskey } from '../../../support/oauth/software-passkey.ts';
import { until } from '../../../support/until.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const CLIENT = { client_id: 'platform', client_secret: 'platform', scope: 'openid' };
const REFUSED = 'The passkey was not accepted. Try again, or sign in another way.';
const USERS = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank'] as const;

describe('passkeys', () => {
  let cluster: OAuthCluster;
  let a: OAuthReplica;
  let b: OAuthReplica;
  let browser: SiteBrowser;
  const passkeys = new Map<string, SoftwarePasskey>();

  before(async () => {
    cluster = await sharedCluster();
    [a, b] = await cluster.replicas({}, 'localhost');
    for (const name of USERS) {
      await cluster.addUser(name, PASSWORD);
      const passkey = new SoftwarePasskey(new URL(a.issuer).origin);
      passkeys.set(name, passkey);
      browser = new SiteBrowser(a);
      await visit(name);
      expect((await register(passkey)).status).to.equal(303);
    }
  });
  after(() => cluster?.reset());
  beforeEach(() => {
    browser = new SiteBrowser(a);
  });

  const passkeyOf = (name: string): SoftwarePasskey => {
    const found = passkeys.get(name);
    if (!found) throw new Error(`${name} has no passkey`);
    return found;
  };
  const isSecondStep = (): boolean => browser.page.includes('<h1>Confirm that it is you</h1>');
  /** Signs in with the password, and with the passkey if there is one, and shows the account page. */
  async function visit(user: string): Promise<void> {
    await browser.ask('/account');
    let response = await browser.submit({ username: user, password: PASSWORD });
    if (isSecondStep()) response = await browser.submit({ passkey: passkeyOf(user).get(browser.page) });
    expect(response.headers.location, response.text).to.equal(`/account?user=${user}`);
    await browser.ask(text(response.headers.location));
  }
  async function register(passkey: SoftwarePasskey, claims: Claims = {}, format?: 'packed') {
    await browser.submitTo('/account/passkeys', { add: 'passkey' });
    return browser.submit({ name: 'A key', passkey: passkey.create(browser.page, claims, format) });
  }
  /** Signs in at a new sign-in page. Returns whether the user is signed in then. */
  async function isSignedIn(passkey: SoftwarePasskey, claims: Claims = {}): Promise<boolean> {
    await browser.ask('/account');
    return isAccepted(passkey.get(browser.page, claims));
  }
  async function isAccepted(passkey: string): Promise<boolean> {
    const { status, headers } = await browser.submit({ passkey });
    if (status === 303) {
      expect(headers.location).to.match(/^\/account\?user=/);
      return true;
    }
    expect(status).to.equal(400);
    expect(browser.page).to.contain(REFUSED);
    expect(browser.cookies.has('__Host-session')).to.equal(false);
    return false;
  }
  const storedOf = async (user: string): Promise<readonly unknown[]> =>
    array((await cluster.object(`authenticators/${user}`)).spec['passkeys']);

  it('sign in alone, and the tokens say how', async () => {
    await browser.ask('/account');
    expect(optionsIn(browser.page)).to.deep.include({
      rpId: 'localhost',
      userVerification: 'required',
      allowCredentials: [],
    });
    expect(await isAccepted(passkeyOf('alice').get(browser.page))).to.equal(true);
    const sessions = await cluster.objects('sessions', '?fieldSelector=spec.user%3Dalice');
    const { spec = {} } = sessions.find((each) => each.spec['passkey'] !== undefined) ?? {};
    expect(spec['amr']).to.deep.equal(['hwk', 'user', 'mfa']);
    expect(spec['passkey']).to.equal(passkeyOf('alice').id.toString('base64url'));
    expect(a.audited.at(-1)).to.deep.include({ method: 'passkey', outcome: 'success', user: 'alice' });
  });

  it('are rejected for any claim that is not true, with one response', async () => {
    const alice = passkeyOf('alice');
    const other = new SoftwarePasskey(new URL(a.issuer).origin);
    const { userHandle } = passkeyOf('bob');
    const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const attacks: [reason: RegExp | undefined, Claims][] = [
      [/response origin/, { origin: 'https://localhost.example.com' }],
      [/response origin/, { origin: 'https://localhost:1' }],
      [/RP ID/, { rpId: 'example.com' }],
      [/challenge/, { challenge: 'A'.repeat(43) }],
      [/could not be verified/, { userVerified: false }],
      [/no such passkey/, { userHandle }],
      [undefined, { userHandle: 'AAAA' }],
      [undefined, { userHandle: undefined }],
      [/frame of another site/, { crossOrigin: true }],
      [/signature is invalid/, { key }],
    ];
    for (const [reason, claims] of attacks) {
      expect(await isSignedIn(alice, claims), JSON.stringify(claims)).to.equal(false);
      const { outcome, reason: recorded } = a.audited.at(-1) ?? {};
      if (reason) expect(recorded).to.match(reason);
      else expect(outcome).to.equal('unknown_user');
    }
    other.userHandle = alice.userHandle;
    expect(await isSignedIn(other), 'another key').to.equal(false);
    const { reason, ...record } = a.audited.at(-1) ?? {};
    expect(record).to.deep.include({ method: 'passkey', outcome: 'wrong_passkey', user: 'alice' });
    expect(reason).to.equal('the user has no such passkey');
    for (const sent of [
      '',
      'x',
      '{}',
      '[]',
      'null',
      '{"id":1}',
      JSON.stringify({ id: 'a' }),
      '['.repeat(9000),
    ]) {
      await browser.ask('/account');
      const { status } = await browser.submit({ passkey: sent });
      expect(status, sent.slice(0, 10)).to.equal(400);
    }
    expect(await isSignedIn(alice)).to.equal(true);
  });

  it('are accepted once for each page, by all replicas', async () => {
    await browser.ask('/account');
    const { page } = browser;
    const response = passkeyOf('bob').get(page);
    const thief = new SiteBrowser(b);
    thief.cookies.set('__Host-sign-in', browser.cookies.get('__Host-sign-in') ?? '');
    expect(await isAccepted(response)).to.equal(true);
    for (const site of [b, a]) {
      browser = thief;
      browser.site = site;
      browser.page = page;
      expect(await isAccepted(response)).to.equal(false);
    }
  });

  it('are accepted by one of two replicas that receive a response at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const first = new SiteBrowser(a);
      await first.ask('/account');
      const second = new SiteBrowser(b);
      second.page = first.page;
      second.cookies.set('__Host-sign-in', first.cookies.get('__Host-sign-in') ?? '');
      const passkey = passkeyOf('carol').get(first.page);
      const answers = await Promise.all([first.submit({ passkey }), second.submit({ passkey })]);
      expect(answers.map(({ status }) => status)).to.have.members([303, 400]);
    }
  });

  it('are rejected from another browser, and with another or a changed ticket', async () => {
    const alice = passkeyOf('alice');
    await browser.ask('/account');
    const { page } = browser;
    const response = alice.get(page);
    const thief = new SiteBrowser(a);
    await thief.ask('/account');
    const ownPage = thief.page;
    expect((await thief.submit({ passkey: response })).status, 'the ticket of the thief').to.equal(400);
    thief.page = page;
    expect((await thief.submit({ passkey: response })).status, 'the ticket of the user').to.equal(400);
    thief.page = ownPage.replace(/(name="ticket" value="[^"]{20})./, '$1-');
    expect((await thief.submit({ passkey: alice.get(ownPage) })).status, 'a changed ticket').to.equal(403);
    expect(thief.cookies.has('__Host-session')).to.equal(false);
    browser.page = page;
    expect(await isAccepted(response)).to.equal(true);
  });

  it('are rejected if their counter does not grow, because they may be a copy', async () => {
    const dave = passkeyOf('dave');
    expect(await isSignedIn(dave, { counter: 5 })).to.equal(true);
    for (const counter of [5, 4, 0]) {
      browser = new SiteBrowser(a);
      expect(await isSignedIn(dave, { counter }), `${counter}`).to.equal(false);
    }
    expect(await isSignedIn(dave, { counter: 6 })).to.equal(true);
    const [passkey] = await storedOf('dave');
    expect(passkey).to.deep.include({ counter: 6 });
  });

  it('do not sign in a user who is disabled', async () => {
    await cluster.patch('users/bob', { disabled: true });
    await until(() => a.oauth.users.get('bob')?.disabled === true);
    await browser.ask('/account');
    expect((await browser.submit({ passkey: passkeyOf('bob').get(browser.page) })).status).to.equal(400);
    expect(browser.page).to.contain('Your account is disabled.');
    await cluster.patch('users/bob', { disabled: false });
    await until(() => a.oauth.users.get('bob')?.disabled === false);
  });

  it('are a second step after the password, for which the user need not unlock the device', async () => {
    const frank = passkeyOf('frank');
    const id = frank.id.toString('base64url');
    await browser.ask('/account');
    const first = frank.get(browser.page);
    const step = async (): Promise<void> => {
      browser = new SiteBrowser(a);
      await browser.ask('/account');
      await browser.submit({ username: 'frank', password: PASSWORD });
      expect(isSecondStep()).to.equal(true);
      expect(browser.cookies.has('__Host-session')).to.equal(false);
    };
    await step();
    expect(optionsIn(browser.page)).to.deep.include({
      userVerification: 'preferred',
      allowCredentials: [{ id, type: 'public-key', transports: ['internal'] }],
    });
    const { page } = browser;
    const used = frank.get(page, { userVerified: false, userHandle: undefined });
    const own = new SiteBrowser(b);
    own.cookies.set('__Host-sign-in', browser.cookies.get('__Host-sign-in') ?? '');
    expect((await browser.submit({ passkey: used })).headers.location).to.equal('/account?user=frank');
    own.page = page;
    for (const [passkey, reason] of [
      [used, /used before/],
      [passkeyOf('alice').get(page), /no such passkey/],
      [first, /challenge/],
      [frank.get(page, { userHandle: passkeyOf('alice').userHandle }), /another user/],
      [frank.get(page, { origin: 'https://localhost:1' }), /origin/],
    ] as const) {
      browser = own;
      browser.page = page;
      expectPage(await browser.submit({ passkey }), 400, REFUSED);
      expect(browser.cookies.has('__Host-session')).to.equal(false);
      const record = b.audited.at(-1) ?? {};
      expect(record).to.deep.include({ method: 'second_factor', outcome: 'wrong_passkey', user: 'frank' });
      expect(record['reason']).to.match(reason);
    }
    const form = { grant_type: 'password', username: 'frank', password: PASSWORD, ...CLIENT };
    const refused = await a.ask('/oauth/token', { form });
    expect([refused.status, JSON.parse(refused.text).error]).to.deep.equal([400, 'invalid_grant']);
  });

  it('end the sessions that began with the password only, when the first one is added', async () => {
    await cluster.addUser('grace', PASSWORD);
    const form = { grant_type: 'password', username: 'grace', password: PASSWORD, ...CLIENT };
    const { access_token: token } = JSON.parse((await a.ask('/oauth/token', { form })).text);
    const headers = { authorization: `Bearer ${token}` };
    expect((await a.ask('/oauth/userinfo', { headers })).status).to.not.equal(401);
    await visit('grace');
    await register(new SoftwarePasskey(new URL(a.issuer).origin));
    expect((await browser.ask('/account')).text).to.contain('<h1>Your account</h1>');
    for (const site of [a, b])
      await until(async () => (await site.ask('/oauth/userinfo', { headers })).status === 401);
  });

  it('cannot be registered with false claims, with certificates, or twice', async () => {
    await visit('alice');
    const attacks: Claims[] = [
      { origin: 'https://localhost.example.com' },
      { rpId: 'example.com' },
      { challenge: 'A'.repeat(43) },
      { userVerified: false },
      { crossOrigin: true },
    ];
    for (const claims of attacks) {
      const passkey = new SoftwarePasskey(new URL(a.issuer).origin);
      expect((await register(passkey, claims)).status, JSON.stringify(claims)).to.equal(400);
      await browser.ask('/account');
    }
    expect((await register(new SoftwarePasskey(new URL(a.issuer).origin), {}, 'packed')).status).to.equal(
      400,
    );
    for (const name of ['', ' ', '\u200b', '\u2060\u00ad']) {
      await browser.ask('/account');
      await browser.submitTo('/account/passkeys', { add: 'passkey' });
      const passkey = new SoftwarePasskey(new URL(a.issuer).origin).create(browser.page);
      expect((await browser.submit({ name, passkey })).status, JSON.stringify(name)).to.equal(400);
    }
    // kube-apiserver would not store them.
    for (const [idBytes, modulusBytes] of [[1025], [16, 2048]] as const) {
      await browser.ask('/account');
      const passkey = new SoftwarePasskey(new URL(a.issuer).origin, idBytes);
      const claims = modulusBytes === undefined ? {} : { modulus: Buffer.alloc(modulusBytes, 1) };
      expect((await register(passkey, claims)).status, `${idBytes}, ${modulusBytes}`).to.equal(400);
    }
    await browser.ask('/account');
    const excluded = await browser.submitTo('/account/passkeys', { add: 'passkey' });
    expect(excluded.text).to.contain(passkeyOf('alice').id.toString('base64url'));
    expect((await register2(passkeyOf('alice'))).status).to.equal(400);
    expect(await storedOf('alice')).to.have.length(1);
  });

  /** Submits the page that adds a passkey. */
  const register2 = (passkey: SoftwarePasskey) =>
    browser.submit({ name: 'Again', passkey: passkey.create(browser.page) });

  it('end their sessions when they are removed, at all replicas', async () => {
    const erin = passkeyOf('erin');
    expect(await isSignedIn(erin)).to.equal(true);
    const signedIn = browser;
    browser = new SiteBrowser(b);
    await visit('erin');
    const removed = await browser.submitTo('/account/passkeys', { remove: erin.id.toString('base64url') });
    expect(removed.headers.location).to.contain('done=passkey-removed');
    for (const site of [a, b]) {
      signedIn.site = site;
      await until(async () => (await signedIn.ask('/account')).text.includes('<h1>Sign in</h1>'));
    }
    browser = new SiteBrowser(a);
    expect(await isSignedIn(erin)).to.equal(false);
  });

  it('that an administrator removes end their sessions too', async () => {
    expect(await isSignedIn(passkeyOf('carol'))).to.equal(true);
    await cluster.delete('authenticators/carol');
    await until(async () => (await browser.ask('/account')).text.includes('<h1>Sign in</h1>'));
  });

  it('cannot be removed while they are the only way to sign in', async () => {
    expect(await isSignedIn(passkeyOf('dave'), { counter: 10 })).to.equal(true);
    await cluster.delete('credentials/dave');
    await until(() => a.oauth.credentials.get('dave') === undefined);
    browser = new SiteBrowser(a);
    expect(await isSignedIn(passkeyOf('dave'), { counter: 11 })).to.equal(true);
    await browser.ask('/account');
    const { status, text: page } = await browser.submitTo('/account/passkeys', {
      remove: passkeyOf('dave').id.toString('base64url'),
    });
    expect(status).to.equal(400);
    expect(page).to.contain('You could not sign in without this passkey.');
  });

  it('need a host name: an issuer at an IP address has none, and its account page says so', async () => {
    await cluster.reset();
    const replica = await cluster.replica();
    await cluster.addUser('alice', PASSWORD);
    browser = new SiteBrowser(replica);
    await browser.ask('/account');
    expect(browser.page).to.not.contain('passkey');
    await browser.submit({ passkey: new SoftwarePasskey(replica.issuer).get(PAGE) });
    expect(browser.page).to.contain(REFUSED);
    await visit('alice');
    expect(browser.page).to.contain('they need a host name').and.not.contain('name="add"');
    browser.page = browser.page.replace('/account/second-factor', '/account/passkeys');
    expect((await browser.submitTo('/account/passkeys', { add: 'passkey' })).status).to.equal(303);
  });
});

/** A page of another server. */
const PAGE =
  ' data-options="{&quot;challenge&quot;:&quot;AAAA&quot;,&quot;rpId&quot;:&quot;127.0.0.1&quot;}"';
