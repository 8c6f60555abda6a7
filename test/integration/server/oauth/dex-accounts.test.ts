// Tests sign-ins of people of Dex, whose people are those of OpenLDAP: groups and leavers pass two programs.
import { join } from 'node:path';
import { expect } from 'chai';
import { type Dex, startDex } from '../../../../hack/identity/dex.ts';
import { issueServer, newCA } from '../../../support/certificates.ts';
import {
  GROUPS,
  PEOPLE,
  READER,
  requireDirectory,
  TestDirectory,
} from '../../../support/directory/directory.ts';
import { visitProvider } from '../../../support/oauth/provider-visit.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../../../support/oauth/scripted-openid-provider.ts';
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import { requireGoProgram } from '../../../support/required-program.ts';
import { chooseCompany, openIDProvider, pathOf } from './company.ts';
import { claimsOf, exchange, type JSONObject, REDIRECT, refresh } from './console-tokens.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

describe('people of Dex', () => {
  const stack = new AsyncDisposableStack();
  let cluster: OAuthCluster;
  let directory: TestDirectory;
  let dex: Dex;
  let ca: string;
  let replica: OAuthReplica;

  before(async function () {
    await requireDirectory(this);
    await requireGoProgram(this, 'dex');
    cluster = await sharedCluster();
    directory = stack.use(await TestDirectory.start());
    const authority = await newCA('dex-ca');
    ca = authority.cert;
    await cluster.addProviderSecret({ clientSecret: CLIENT_SECRET });
    // Dex must know the address of the issuer.
    const first = await cluster.replica();
    dex = stack.use(
      await startDex({
        dir: join(directory.folder, 'dex'),
        certificate: await issueServer(authority),
        ca,
        client: { id: CLIENT_ID, secret: CLIENT_SECRET, redirectURI: `${first.issuer}/callback/company` },
        directory: {
          address: `localhost:${directory.ldapsPort}`,
          ca: directory.ca,
          bindDN: READER.dn,
          bindPassword: READER.password,
          people: PEOPLE,
          groups: GROUPS,
        },
        signal: AbortSignal.timeout(240_000),
      }),
    );
    const scopes = ['openid', 'profile', 'email', 'groups'];
    const company = await openIDProvider(cluster, { issuer: dex.issuer, ca }, { scopes });
    replica = await cluster.replica({
      clients: [{ id: 'console', public: true, redirectURIs: [REDIRECT] }],
      identityProviders: [{ ...company, groups: { allow: ['*'] }, outageTolerance: '0s' }],
    });
  });
  after(async () => {
    await cluster?.reset();
    await stack.disposeAsync();
  });

  async function signIn(login: string): Promise<JSONObject> {
    const browser = new SiteBrowser(replica);
    await browser.authorize();
    const fill = () => ({ login, password: `${login}-password` });
    const callback = await visitProvider(await chooseCompany(browser), ca, fill);
    return exchange(replica, await browser.ask(pathOf(callback)));
  }

  it('get the groups of the directory, and the changed ones at each refresh', async () => {
    await directory.person('dora', { mail: 'dora@example.com' });
    let session = await signIn('dora');
    expect(claimsOf(session)).to.deep.include({ sub: 'dora', groups: [] });
    for (const group of ['builders', 'testers']) {
      await directory.group(group, [`cn=dora,${PEOPLE}`]);
      const { status, json } = await refresh(replica, session);
      expect(status, JSON.stringify(json)).to.equal(200);
      expect(claimsOf(json)['groups']).to.include(group);
      session = json;
    }
  });

  it('cannot refresh any session after they were deleted', async () => {
    await directory.person('leaver', { mail: 'leaver@example.com' });
    const [one, other] = [await signIn('leaver'), await signIn('leaver')];
    await directory.remove(`cn=leaver,${PEOPLE}`);
    for (const session of [one, other]) {
      const { status, json } = await refresh(replica, session);
      // Dex does not say whether the directory is down or does not know the person.
      expect([status, json['error_description']]).to.deep.equal([
        503,
        'Company account cannot confirm the user at the moment',
      ]);
    }
  });
});
