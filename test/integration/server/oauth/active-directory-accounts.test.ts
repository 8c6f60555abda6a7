// Tests sign-ins of people of Active Directory at the token endpoint: the texts of rejections, and locks of the directory.
import { expect } from 'chai';
import { record, text } from '../../../../apis/reading/unknown-value.ts';
import { ActiveDirectory } from '../../../support/directory/active-directory.ts';
import { GROUPS, PEOPLE, READER } from '../../../support/directory/directory.ts';
import { PASSWORD } from '../../../support/oauth/sign-in-state.ts';
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import type { SiteResponse } from '../../../support/oauth/site-request.ts';
import { directoryProvider } from './company.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const dnOf = (name: string): string => `cn=${name},${PEOPLE}`;

describe('people of Active Directory', () => {
  const stack = new AsyncDisposableStack();
  let cluster: OAuthCluster;
  let directory: ActiveDirectory;
  let replica: OAuthReplica;

  before(async () => {
    cluster = await sharedCluster();
    directory = stack.use(await ActiveDirectory.start());
    await directory.person('ann');
    const secretFile = await cluster.write('client-secret', 'platform');
    await cluster.addProviderSecret({ bindPassword: READER.password });
    const company = await directoryProvider(cluster, directory, {
      schema: 'activeDirectory',
      groupSearch: { base: GROUPS, lookup: 'chain' },
    });
    replica = await cluster.replica({
      clients: [{ id: 'platform', secretFiles: [secretFile], grants: ['password', 'refresh_token'] }],
      identityProviders: [{ ...company, groups: { allow: ['*'] } }],
    });
  });
  after(async () => {
    await cluster?.reset();
    await stack.disposeAsync();
  });

  function ask(username: string, password: string): Promise<SiteResponse> {
    const client = { client_id: 'platform', client_secret: 'platform' };
    return replica.ask('/oauth/token', { form: { grant_type: 'password', username, password, ...client } });
  }
  async function signIn(username: string, password = `${username}-password`): Promise<[number, string]> {
    const { status, text: body } = await ask(username, password);
    return [status, text(record(JSON.parse(body))['error_description'])];
  }

  it('learn why they cannot sign in, with the right password only', async () => {
    const cases = {
      disabled: [(dn) => directory.disable(dn), /^Your account is disabled/],
      nightly: [
        async (dn) => directory.restrictSignIn(dn, '530'),
        /cannot be used at this time or from here/,
      ],
      old: [async (dn) => directory.expirePassword(dn), /^Your password has expired/],
      fresh: [(dn) => directory.requireNewPassword(dn), /^You must change your password first/],
    } satisfies Record<string, [(dn: string) => Promise<void>, RegExp]>;
    const unknown = await signIn('nobody-at-all');
    for (const [name, [change, text]] of Object.entries(cases)) {
      await directory.person(name);
      await change(dnOf(name));
      expect(await signIn(name, 'wrong'), name).to.deep.equal(unknown);
      const [status, description] = await signIn(name);
      expect([status, description], name).to.satisfy(() => status === 400 && text.test(description));
    }
  });

  it('are delayed before the directory locks them, by all spellings of the name together', async () => {
    directory.lockoutThreshold = 10;
    const names = ['ann', 'ANN', 'änn', 'ann@example.com', 'Ann@Example.com'];
    const guesses = names.flatMap((name) => Array.from({ length: 6 }, () => signIn(name, 'wrong')));
    const statuses = new Set((await Promise.all(guesses)).map(([status]) => status));
    expect(statuses).to.include(429);
    expect(directory.isLocked(dnOf('ann'))).to.equal(false);
    const [, again] = await signIn('ann', 'wrong');
    expect(again).to.match(/^too many attempts/);
  });

  it('cannot be told from unknown names and local users, neither by delays nor by a second name', async () => {
    for (const name of ['dan', 'eve']) await directory.person(name);
    for (const name of ['local', 'lisa']) await cluster.addUser(name, PASSWORD);
    // Also not at an address from which they have signed in.
    expect((await ask('eve', 'eve-password')).status).to.equal(200);
    expect((await ask('lisa', PASSWORD)).status).to.equal(200);
    const responses = await Promise.all(
      ['dan', 'nobody', 'local', 'eve', 'lisa'].map(async (name) => {
        const seen = [];
        for (let attempt = 0; attempt < 6; attempt++) seen.push(await ask(name, 'wrong'));
        seen.push(await ask(`${name}@example.com`, `${name}-password`));
        // Whole minutes, because seconds have passed.
        return seen.map(({ status, headers, text: body }) => {
          return [status, Math.ceil(Number(headers['retry-after'] ?? 0) / 60), body];
        });
      }),
    );
    const [dan, ...others] = responses;
    for (const other of others) expect(other).to.deep.equal(dan);
    expect(dan?.map(([status, minutes]) => [status, minutes]).slice(4)).to.deep.equal([
      [400, 0],
      [429, 2],
      [400, 0],
    ]);
  });

  it('are not locked by guesses on the account page of another user, which count like those of a sign-in', async () => {
    await directory.person('cat');
    await cluster.addUser('mallory', PASSWORD);
    const browser = new SiteBrowser(replica);
    await browser.ask('/account');
    const { headers } = await browser.submit({ username: 'mallory', password: PASSWORD });
    await browser.ask(text(headers.location));
    const link = { link: 'company', decision: 'link', password: 'wrong' };
    const { page } = browser;
    const guess = (username: string) => {
      browser.page = page;
      return browser.submitTo('/account/identities', { ...link, username });
    };
    for (const username of ['cat', 'CAT', 'cat@example.com']) {
      expect((await guess(username)).status, username).to.equal(400);
      const record = { method: 'account_link', outcome: 'wrong_password', user: 'mallory' };
      expect(replica.audited.at(-1)).to.include(record);
    }
    for (const spelling of ['Cat@Example.com', 'CAT@EXAMPLE.COM']) {
      expect(await signIn(spelling, 'wrong')).to.include(400);
    }
    const [, refused] = await signIn('Cat', 'cat-password');
    // After five failures. A stranger does not learn that the person is delayed.
    expect(refused).to.equal('the user name or the password is wrong');
    expect(replica.audited.at(-1)).to.include({ outcome: 'throttled' });
    const throttled = await guess('cat@example.COM');
    expect(throttled.status).to.equal(429);
    expect(Number(throttled.headers['retry-after']), 'as for a person').to.be.greaterThan(60);
  });
});
