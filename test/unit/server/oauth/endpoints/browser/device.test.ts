// Tests of the device flow in a browser.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../../apis/meta/v1/errors.ts';
import { NO_USER } from '../../../../../../server/oauth/sessions/session.ts';
import { SignInSite } from '../../../../../support/oauth/sign-in-site.ts';
import { PASSWORD, SiteState } from '../../../../../support/oauth/sign-in-state.ts';
import { Visit } from '../../../../../support/oauth/sign-in-visit.ts';
import type { SiteResponse } from '../../../../../support/oauth/site-request.ts';

interface Device {
  readonly device_code: string;
  readonly user_code: string;
}

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

describe('the device flow', () => {
  let state: SiteState;
  let site: SignInSite;
  beforeEach(async () => {
    state = await SiteState.make();
    site = await SignInSite.start(state);
  });
  afterEach(() => site.close());

  async function begin(): Promise<Device> {
    const { status, text } = await site.ask('/oauth/device_authorization', {
      form: { client_id: 'cli', scope: 'openid' },
      headers: { 'user-agent': 'terminal<1> checked by your IT department' },
    });
    expect(status, text).to.equal(200);
    return JSON.parse(text) as Device;
  }

  const poll = ({ device_code }: Device, changes: Readonly<Record<string, string>> = {}) =>
    site.token({ grant_type: GRANT, client_id: 'cli', device_code, ...changes });

  async function errorOf(device: Device, changes?: Readonly<Record<string, string>>): Promise<unknown> {
    const { status, json } = await poll(device, changes);
    expect(status).to.equal(400);
    return json['error'];
  }

  /** The page after entering the code. */
  const enter = (code: string, at = site): Promise<SiteResponse> =>
    at.ask(`/oauth/device?user_code=${encodeURIComponent(code)}`);

  const visit = async ({ user_code }: Device, at = site): Promise<Visit> =>
    new Visit(at, await enter(user_code, at), '/oauth/device/sign-in');

  const approve = async (device: Device, at = site): Promise<SiteResponse> =>
    (await visit(device, at)).signIn();

  const users = (): string[] => state.sessions.ofClients.map(({ user }) => user);

  it('issues a device code and a user code, and stores the request for all replicas without either code', async () => {
    const device = await begin();
    const { device_code, user_code } = device;
    expect(device_code).to.match(/^pdc_/);
    expect(user_code).to.match(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(device).to.deep.include({
      verification_uri: 'https://sso.example.com/oauth/device',
      verification_uri_complete: `https://sso.example.com/oauth/device?user_code=${user_code}`,
      expires_in: 600,
      interval: 5,
    });
    const [open] = state.sessions.ofClients;
    expect(open).to.include({ user: NO_USER, clientID: 'cli', source: '192.0.2.7' });
    for (const secret of [user_code, user_code.replace('-', ''), device_code.slice(-43)]) {
      expect(JSON.stringify(open)).not.to.contain(secret);
    }
  });

  it('issues tokens after a sign-in at any replica', async () => {
    await using other = await SignInSite.start(state);
    const device = await begin();
    for (const error of ['authorization_pending', 'authorization_pending', 'slow_down']) {
      expect(await errorOf(device)).to.equal(error);
    }
    state.now += 10_000;
    expect(await errorOf(device)).to.equal('authorization_pending');
    const done = await approve(device, other);
    expect(done.status).to.equal(200);
    expect(done.text).to.contain('<h1>Device connected</h1>');
    const { status, json } = await poll(device);
    expect(status).to.equal(200);
    expect(json).to.include({ token_type: 'Bearer', scope: 'openid' }).and.to.have.property('id_token');
    const [session, ...others] = state.sessions.ofClients;
    expect(others).to.deep.equal([]);
    expect(session).to.include({ user: 'alice', clientID: 'cli' });
  });

  it('shows a form without a code, and code, client and origin of the request for any spelling of the code', async () => {
    const empty = await site.ask('/oauth/device');
    expect(empty.status).to.equal(200);
    expect(empty.text).to.contain('<form method="get" action="/oauth/device">');
    const { user_code } = await begin();
    const form = await enter(` ${user_code.toLowerCase().replace('-', ' - ')}`);
    expect(form.text)
      .to.contain('type="password"')
      .and.to.contain(`<strong>${user_code}</strong>`)
      .and.to.contain('<strong>cli</strong> requests access')
      .and.to.contain('192.0.2.7, from a program that calls itself “terminal&lt;1&gt;”')
      .and.to.contain('only if you started this yourself');
    for (const { headers } of [empty, form]) {
      expect(headers['content-security-policy']).to.match(/; form-action 'self'$/);
    }
    const long = await enter("'".repeat(3_000));
    expect(long.text).to.contain(`value="${'&#39;'.repeat(64)}"`);
    const repeated = await site.ask(`/oauth/device?user_code=${user_code}&user_code=${user_code}`);
    expect(repeated.status).to.equal(400);
    expect(repeated.text).not.to.include('name="ticket"');
  });

  it('redirects from the address of its page with a slash at the end', async () => {
    const { status, headers } = await site.ask('/oauth/device/?user_code=BCDF-GHJK');
    expect([status, headers['location']]).to.deep.equal([303, '/oauth/device?user_code=BCDF-GHJK']);
  });

  it('rejects an unknown code, and throttles guessing from an address or a /64 network of IPv6', async () => {
    state.source = '2001:db8::ffff';
    const wrong = await enter('BCDF-GHJK');
    expect(wrong.status).to.equal(400);
    expect(wrong.text).to.contain('This code is unknown').and.to.contain('value="BCDF-GHJK"');
    for (let attempt = 1; attempt < 10; attempt++) {
      state.source = `2001:db8::${attempt}`;
      expect((await enter('x')).status).to.equal(400);
    }
    const device = await begin();
    const slowed = await enter(device.user_code);
    expect(slowed.status).to.equal(429);
    expect(slowed.headers['retry-after']).to.equal('5');
    expect(slowed.text).to.contain('Try again in 5 seconds.').and.not.to.contain('type="password"');
    state.source = '2001:db8:0:1::1';
    expect((await enter(device.user_code)).text).to.contain('type="password"');
    state.source = '2001:db8::1';
    state.now += 5000;
    expect((await enter(device.user_code)).text).to.contain('type="password"');
  });

  it('lets an address guess 22 codes in the lifetime of a request: of three replicas, one in 1.9 million finds one of 200', async () => {
    const end = state.now + 600_000;
    let guesses = 0;
    while (state.now < end) {
      const { status, headers } = await enter('BCDF-GHJK');
      if (status === 400) guesses++;
      else state.now += Number(headers['retry-after']) * 1000;
    }
    expect(guesses).to.equal(22);
    expect(Math.round(20 ** 8 / (3 * guesses * 200))).to.be.within(1_900_000, 2_000_000);
  });

  it('accepts a poll that is repeated with the other method of client authentication', async () => {
    const device = await begin();
    const both = async (): Promise<readonly unknown[]> => {
      const form = { grant_type: GRANT, device_code: device.device_code };
      const header = { authorization: `Basic ${Buffer.from('cli:').toString('base64')}` };
      const first = await site.ask('/oauth/token', { form, headers: header });
      const second = await site.ask('/oauth/token', { form: { ...form, client_id: 'cli' } });
      return [first, second].map(({ text }) => (JSON.parse(text) as Record<string, unknown>)['error']);
    };
    for (let polls = 0; polls < 3; polls++) {
      expect(await both()).to.deep.equal(['authorization_pending', 'authorization_pending']);
      state.now += 5000;
    }
    await both();
    expect(await errorOf(device), 'a further poll').to.equal('slow_down');
  });

  it('accepts unencoded characters and repeated unknown parameters beside the code', async () => {
    const { user_code } = await begin();
    const page = await site.ask(`/oauth/device?a;b=|"&x=1&x=2&&user_code=${user_code}`);
    expect([page.status, page.text.includes('type="password"')]).to.deep.equal([200, true]);
    const twice = await site.ask(`/oauth/device?user_code=${user_code}&user_code=${user_code}`);
    expect(twice.status).to.equal(400);
    expect(twice.text)
      .to.contain('The device cannot be connected')
      .and.to.contain('The parameter user_code is repeated.');
  });

  it('returns access_denied after the user cancels', async () => {
    const device = await begin();
    const refused = await (await visit(device)).send({ decision: 'cancel' });
    expect(refused.text).to.contain('<h1>Device not connected</h1>');
    state.now += 11_000;
    expect(await errorOf(device)).to.equal('access_denied');
  });

  it('returns expired_token after the lifetime, and an error page to the user', async () => {
    const device = await begin();
    const page = await visit(device);
    state.now += 600_000;
    expect(await errorOf(device)).to.equal('expired_token');
    expect((await enter(device.user_code)).status).to.equal(400);
    expect((await page.signIn()).status).to.equal(400);
    expect(users().filter((user) => user !== NO_USER)).to.deep.equal([]);
  });

  it('returns 503 while the session cache is stale', async () => {
    const device = await begin();
    const page = await visit(device);
    site.store.fresh = false;
    for (const { status } of [await enter(device.user_code), await page.signIn()]) {
      expect(status).to.equal(503);
    }
    site.store.fresh = true;
    state.now += 60_000;
    state.sessions.objects.clear();
    for (const [cache, property] of [
      [site.store, 'fresh'],
      [state.credentials, 'synced'],
    ] as const) {
      Object.assign(cache, { [property]: false });
      const { status, json } = await poll(device);
      expect([status, json['error']]).to.deep.equal([503, 'temporarily_unavailable']);
      Object.assign(cache, { [property]: true });
    }
  });

  it('accepts only the first approval or denial, even at a replica with a stale cache', async () => {
    await using other = await SignInSite.start(state);
    await state.add('bob');
    const device = await begin();
    other.store.lag();
    const late = await visit(device, other);
    expect((await approve(device)).status).to.equal(200);
    expect((await late.signIn('bob')).status).to.equal(400);
    expect(users()).to.deep.equal(['alice']);
  });

  it('shows that the device is connected when the form is sent twice', async () => {
    await state.add('bob');
    const device = await begin();
    const page = await visit(device);
    const { ticket } = page;
    const send = async (username = 'alice'): Promise<string> =>
      (await page.send({ ticket, username, password: PASSWORD })).text;
    for (const text of await Promise.all([send(), send()])) {
      expect(text).to.contain('<h1>Device connected</h1>');
    }
    expect(await send()).to.contain('<h1>Device connected</h1>');
    expect(await send('bob')).to.contain('This code cannot be used');
    expect(users()).to.deep.equal(['alice']);
    expect((await poll(device)).status).to.equal(200);
    expect(await send()).to.contain('<h1>Device connected</h1>');
  });

  it('does not report a connected device as denied', async () => {
    const device = await begin();
    const page = await visit(device);
    await approve(device);
    const late = await page.send({ decision: 'cancel' });
    expect(late.status).to.equal(400);
    expect(late.text).to.contain('<h1>The device is connected</h1>').and.to.contain('sign out at the device');
    expect((await poll(device)).status).to.equal(200);
  });

  it('accepts a retry of the same user after a lost response', async () => {
    const device = await begin();
    site.store.afterWrite = () => {
      throw newServiceUnavailable('the response of kube-apiserver was cut');
    };
    expect((await approve(device)).status).to.equal(503);
    site.store.afterWrite = () => undefined;
    expect((await approve(device)).text).to.contain('Device connected');
    expect(state.sessions.ofClients.length).to.equal(1);
    expect((await poll(device)).status).to.equal(200);
  });

  it('accepts a device code once and for two minutes, and terminates the session on replay', async () => {
    const forgotten = await begin();
    await approve(forgotten);
    state.now += 120_000;
    expect((await poll(forgotten)).status).to.equal(400);
    state.sessions.objects.clear();
    const device = await begin();
    await approve(device);
    expect((await poll(device)).status).to.equal(200);
    expect(await errorOf(device)).to.equal('invalid_grant');
    expect(state.sessions.ofClients.length).to.equal(0);
  });

  it('rejects a code of another client, a made-up code, and a request in place of a session', async () => {
    const device = await begin();
    expect(await errorOf(device, { client_id: 'console' })).to.equal('invalid_grant');
    const other = device.device_code.slice(0, -43) + 'x'.repeat(43);
    expect(await errorOf(device, { device_code: other })).to.equal('invalid_grant');
    expect(await errorOf(device, { device_code: 'pdc_x' })).to.equal('invalid_grant');
    expect(await errorOf(device, { device_code: '' })).to.equal('invalid_request');
    const [open] = [...state.sessions.objects.keys()];
    const asSession = device.device_code.replace(/^pdc_s-[a-z2-7]{20}/, `pdc_${open}`);
    expect(await errorOf(device, { device_code: asSession })).to.equal('invalid_grant');
    await approve(device);
    expect(await errorOf(device, { device_code: other })).to.equal('invalid_grant');
    expect(await errorOf(device, { client_id: 'console' })).to.equal('invalid_grant');
    expect((await poll(device)).status).to.equal(200);
  });

  it('is limited to clients with the grant, and to their scopes', async () => {
    for (const [form, error] of [
      [{ client_id: 'machine', client_secret: 'secret of machine' }, 'unauthorized_client'],
      [{ client_id: 'nobody' }, 'invalid_client'],
      [{ client_id: 'cli', scope: 'root' }, 'invalid_scope'],
    ] as const) {
      const { text } = await site.ask('/oauth/device_authorization', { form });
      expect((JSON.parse(text) as { error: string }).error).to.equal(error);
    }
    expect((await site.ask('/oauth/device_authorization')).status).to.equal(405);
  });
});
