// Tests sign-ins of people of Keycloak: its pages, realm roles as groups, refresh, sign-out and people who leave.
import { join } from 'node:path';
import { expect } from 'chai';
import { text } from '../../../../apis/reading/unknown-value.ts';
import {
  type Keycloak,
  provideKeycloak,
  type Realm,
  startKeycloak,
} from '../../../../hack/identity/keycloak.ts';
import { issueServer, newCA } from '../../../support/certificates.ts';
import { visitProvider } from '../../../support/oauth/provider-visit.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../../../support/oauth/scripted-openid-provider.ts';
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import { requireProgram } from '../../../support/required-program.ts';
import { chooseCompany, openIDProvider, pathOf } from './company.ts';
import { claimsOf, exchange, type JSONObject, REDIRECT, refresh } from './console-tokens.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const MAPPER = { protocol: 'openid-connect', protocolMapper: 'oidc-usermodel-realm-role-mapper' } as const;

/** The realm: a confidential client with PKCE, whose ID tokens have the realm roles, and a person. */
function realm(issuer: string): Realm {
  return {
    realm: 'company',
    enabled: true,
    revokeRefreshToken: true,
    refreshTokenMaxReuse: 0,
    roles: { realm: [{ name: 'k8s-developers' }, { name: 'office' }] },
    clients: [
      {
        clientId: CLIENT_ID,
        secret: CLIENT_SECRET,
        redirectUris: [`${issuer}/callback/company`],
        attributes: {
          'pkce.code.challenge.method': 'S256',
          'post.logout.redirect.uris': `${issuer}/signed-out`,
        },
        protocolMappers: [
          {
            name: 'realm roles',
            ...MAPPER,
            config: { 'claim.name': 'realm_access.roles', multivalued: 'true', 'id.token.claim': 'true' },
          },
        ],
      },
    ],
    users: [
      {
        username: 'kim',
        enabled: true,
        email: 'kim@example.com',
        emailVerified: true,
        firstName: 'Kim',
        lastName: 'Example',
        credentials: [{ type: 'password', value: 'kim-password' }],
        realmRoles: ['default-roles-company', 'k8s-developers', 'office'],
      },
    ],
  };
}

describe('people of Keycloak', () => {
  const stack = new AsyncDisposableStack();
  const cookies = new Map<string, string>();
  let cluster: OAuthCluster;
  let keycloak: Keycloak;
  let ca: string;
  let replica: OAuthReplica;
  let browser: SiteBrowser;

  before(async function () {
    await requireProgram(this, 'Keycloak', provideKeycloak);
    cluster = await sharedCluster();
    const authority = await newCA('keycloak-ca');
    ca = authority.cert;
    await cluster.addProviderSecret({ clientSecret: CLIENT_SECRET });
    // Keycloak must know the address of the issuer.
    const { issuer } = await cluster.replica();
    keycloak = stack.use(
      await startKeycloak({
        dir: join(cluster.dir, 'keycloak'),
        certificate: await issueServer(authority),
        ca,
        realm: realm(issuer),
        signal: AbortSignal.timeout(600_000),
      }),
    );
    const settings = {
      claims: { name: 'preferred_username', groups: '/realm_access/roles' },
      signOut: true,
    };
    const company = await openIDProvider(cluster, { issuer: keycloak.issuer, ca }, settings);
    replica = await cluster.replica({
      clients: [{ id: 'console', public: true, redirectURIs: [REDIRECT] }],
      identityProviders: [{ ...company, groups: { allow: ['k8s-*'] } }],
    });
  });
  after(async () => {
    await cluster?.reset();
    await stack.disposeAsync();
  });

  /** Brings the browser to a page of Keycloak, and back to this server. */
  const visit = async (location: URL) => {
    const fill = () => ({ username: 'kim', password: 'kim-password', credentialId: '' });
    return browser.ask(pathOf(await visitProvider(location, ca, fill, cookies)));
  };

  async function signIn(): Promise<JSONObject> {
    browser = new SiteBrowser(replica);
    await browser.authorize();
    return exchange(replica, await visit(await chooseCompany(browser)));
  }

  it('get the allowed realm roles as groups, and keep their session with refresh tokens that are valid once', async () => {
    let session = await signIn();
    for (let round = 0; round < 3; round++) {
      expect(claimsOf(session)).to.deep.include({ sub: 'kim', groups: ['k8s-developers'] });
      const { status, json } = await refresh(replica, session);
      expect(status, JSON.stringify(json)).to.equal(200);
      session = json;
    }
  });

  it('are signed out there, too', async () => {
    const { id_token: hint } = await signIn();
    const ended = await browser.ask(`/oauth/logout?id_token_hint=${text(hint)}`);
    expect(ended.headers.location, ended.text).to.match(/\/protocol\/openid-connect\/logout\?/);
    const back = await visit(new URL(text(ended.headers.location)));
    expect(back.status, back.text).to.equal(200);
    expect(browser.page).to.contain('<h1>Signed out</h1>');
  });
});
