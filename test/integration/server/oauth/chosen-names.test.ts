// Tests how people of an OpenID provider (oidc-provider) and of a directory (OpenLDAP) choose a user name at their first sign-in, at two
// replicas of the authorization server on a real control plane.
import { expect } from 'chai';
import { recordIn } from '../../../../apis/reading/unknown-value.ts';
import { requireDirectory, TestDirectory } from '../../../support/directory/directory.ts';
import type { RealOpenIDProvider } from '../../../support/oauth/real-openid-provider.ts';
import { PASSWORD } from '../../../support/oauth/sign-in-state.ts';
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import { expectPage, type SiteResponse } from '../../../support/oauth/site-request.ts';
import { until } from '../../../support/until.ts';
import { chooseCompany, directoryProvider, pathOf, startCompany } from './company.ts';
import { REDIRECT } from './console-tokens.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const CODE = /[?&]code=pac_/;

describe('a user name that the person chooses', () => {
  let cluster: OAuthCluster;
  let upstream: RealOpenIDProvider;
  let directory: TestDirectory;
  let a: OAuthReplica;
  let b: OAuthReplica;
  let browser: SiteBrowser;

  before(async function () {
    await requireDirectory(this);
    cluster = await sharedCluster();
    directory = await TestDirectory.start();
    await directory.person('Ninth');
    ({ upstream, a, b } = await startCompany(cluster, {
      provider: { displayName: 'Company <account>', accounts: 'choose', groups: { allow: ['*'] } },
      oidc: { scopes: ['openid', 'profile', 'email', 'groups'] },
      others: [
        {
          ...(await directoryProvider(cluster, directory)),
          name: 'directory',
          displayName: 'The directory',
          accounts: 'choose',
        },
      ],
      configuration: {
        throttle: { failures: 3 },
        clients: [
          { id: 'console', public: true, redirectURIs: [REDIRECT] },
          {
            id: 'tool',
            public: true,
            displayName: 'The tool',
            grants: ['password', 'urn:ietf:params:oauth:grant-type:device_code'],
          },
        ],
      },
    }));
    await cluster.addUser('alice', PASSWORD);
  });
  after(async () => {
    await upstream?.[Symbol.asyncDispose]();
    await cluster?.reset();
    await directory?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    browser = new SiteBrowser(a);
  });

  /** Signs in at the provider, as a person with this claim, until the page with the name. */
  async function arrive(subject: string, name: string, at = browser): Promise<SiteResponse> {
    upstream.people.set(subject, { preferred_username: name, name, email: `${subject}@example.com` });
    await at.authorize();
    return back(subject, at);
  }
  async function back(subject: string, at = browser): Promise<SiteResponse> {
    return at.ask(pathOf(await upstream.signIn(await chooseCompany(at), subject)));
  }
  const choose = (name: string, at = browser) => at.submit({ name });
  const usersOf = async (...wanted: string[]): Promise<readonly string[]> =>
    (await cluster.objects('users')).map(({ name }) => name).filter((name) => wanted.includes(name));

  it('is proposed, chosen on a page, and used from then on', async () => {
    const { status, text: page } = await arrive('first', 'Zoë <Company>');
    expect(status, page).to.equal(200);
    expect(page).to.contain('<h1>Choose your user name</h1>').and.contain('value="zoe-company"');
    expect(page).to.contain('Company &lt;account&gt;').and.contain('Zoë &lt;Company&gt;');
    expect(browser.cookies.has('__Host-session'), 'not signed in yet').to.equal(false);
    expect(await usersOf('zoe-company')).to.deep.equal([]);
    expect(a.audited.at(-1)).to.include({ outcome: 'name_missing', provider: 'company' });
    browser.site = b;
    const chosen = await choose(' Zoe.Z ');
    expect(chosen.headers.location, chosen.text).to.match(CODE);
    expect(b.audited.at(-1)).to.include({ outcome: 'success', user: 'zoe.z', provider: 'company' });
    const linked = (await cluster.objects('identities')).map(({ spec }) => spec['user']);
    expect(linked).to.include('zoe.z');
    browser = new SiteBrowser(b);
    expect((await arrive('first', 'Another name')).headers.location).to.match(CODE);
  });

  it('cannot be invalid, reserved or that of another user, and the page reveals nothing else', async () => {
    await arrive('second', 'alice');
    const { page } = browser;
    for (const name of ['', 'a_b', 'system:admin', 'é', 'x'.repeat(64), '../alice']) {
      browser.page = page;
      const { status, text: invalid } = await choose(name);
      expect([status, invalid.includes('not a valid user name')], name).to.deep.equal([400, true]);
      expect(invalid).to.contain('aria-invalid="true"');
    }
    const taken = await choose('alice');
    const reserved = await choose('admin');
    expect([taken.status, reserved.status]).to.deep.equal([400, 400]);
    expect(taken.text).to.contain('This user name is not available.');
    expect(reserved.text.replaceAll('admin', 'alice')).to.equal(taken.text);
    // Names can be guessed as slowly as passwords, also at another replica and after another sign-in.
    await choose('root');
    browser.site = b;
    await until(async () => (await choose('alice')).status === 429);
    const { status, headers, text: throttled } = await choose('free');
    expect([status, throttled.includes('Too many attempts.')]).to.deep.equal([429, true]);
    expect(headers['retry-after']).to.match(/^\d+$/);
    expect(await usersOf('free')).to.deep.equal([]);
  });

  it('is valid in one browser, once, and the page contains no token of the provider', async () => {
    const sealed = await arrive('third', 'third');
    const [, ticket = ''] = /name="ticket" value="([^".]+)/.exec(sealed.text) ?? [];
    const content = JSON.parse(Buffer.from(ticket, 'base64url').toString()) as Record<string, unknown>;
    const { person } = recordIn(content, 'content');
    expect(person, 'encrypted').to.match(/^eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
    const stranger = new SiteBrowser(a);
    await stranger.authorize();
    stranger.page = browser.page;
    expectPage(await choose('third', stranger), 400, 'Please sign in once more');
    expect(await usersOf('third')).to.deep.equal([]);
    const { page } = browser;
    expect((await choose('third')).headers.location).to.match(CODE);
    browser.page = page;
    expectPage(await choose('third'), 400, 'You have a user name already.');
  });

  it('is one, if a person chooses in two browsers at the same time', async () => {
    const other = new SiteBrowser(b);
    for (const at of [browser, other]) await arrive('fourth', 'fourth', at);
    const results = await Promise.all([choose('fourth-a'), choose('fourth-b', other)]);
    expect(results.some(({ headers }) => CODE.test(headers.location ?? ''))).to.equal(true);
    expect(await usersOf('fourth-a', 'fourth-b')).to.have.length(1);
  });

  it('belongs to one of two people who choose it at the same time', async () => {
    const other = new SiteBrowser(b);
    await arrive('fifth', 'fifth');
    await arrive('sixth', 'sixth', other);
    const results = await Promise.all([choose('same'), choose('same', other)]);
    expect(results.map(({ status }) => status)).to.have.members([303, 400]);
    expect(results.find(({ status }) => status === 400)?.text).to.contain('is not available');
    const loser = results[0]?.status === 400 ? browser : other;
    expect((await choose('different', loser)).headers.location).to.match(CODE);
  });

  it('is not chosen after the person has cancelled', async () => {
    await arrive('seventh', 'seventh');
    const { headers } = await browser.submit({ decision: 'cancel' });
    expect(headers.location).to.match(/error=access_denied/);
    expect(await usersOf('seventh')).to.deep.equal([]);
  });

  it('is chosen in the device flow, too', async () => {
    const form = { client_id: 'tool', scope: 'openid' };
    const opened = await a.ask('/oauth/device_authorization', { form });
    const device = JSON.parse(opened.text) as Readonly<Record<string, string>>;
    await until(async () => {
      await browser.ask(`/oauth/device?user_code=${device['user_code'] ?? ''}`);
      return browser.page.includes('Sign in with Company');
    });
    upstream.people.set('eighth', { preferred_username: 'eighth' });
    expect((await back('eighth')).text).to.contain('Choose your user name');
    const connected = await choose('eighth');
    expect(connected.status, connected.text).to.equal(200);
    expect(connected.text).to.contain('The tool');
    const grant = 'urn:ietf:params:oauth:grant-type:device_code';
    const polled = { grant_type: grant, device_code: device['device_code'] ?? '', client_id: 'tool' };
    const { status, text: body } = await a.ask('/oauth/token', { form: polled });
    expect(status, body).to.equal(200);
  });

  it('is chosen by people of a directory on the page, and the password grant says so', async () => {
    const grant = () =>
      a.ask('/oauth/token', {
        form: {
          grant_type: 'password',
          client_id: 'tool',
          username: 'Ninth',
          password: 'Ninth-password',
          scope: 'openid',
        },
      });
    const { status, text: body } = await grant();
    expect(status).to.equal(400);
    expect(JSON.parse(body)).to.include({ error: 'invalid_grant' });
    expect(body).to.contain('Sign in with a browser once');
    await browser.authorize();
    await browser.submit({ username: 'Ninth', password: 'Ninth-password' });
    expect(browser.page).to.contain('The directory').and.contain('value="ninth"');
    expect((await choose('nine')).headers.location).to.match(CODE);
    expect((await grant()).status).to.equal(200);
  });
});
