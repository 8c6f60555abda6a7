// The identity provider `company` of replicas: its entry in their configuration, and the steps of a person who signs in with it.
import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { exportJWK } from 'jose';
import type { ClientMetadata } from 'oidc-provider';
import { text } from '../../../../apis/reading/unknown-value.ts';
import { PEOPLE, READER } from '../../../support/directory/directory.ts';
import { RealOpenIDProvider } from '../../../support/oauth/real-openid-provider.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../../../support/oauth/scripted-openid-provider.ts';
import type { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';

interface Listening {
  /** CA of its certificate, PEM. */
  readonly ca: string;
}

/** An OpenID provider. `oidc`: changes of this section. */
export async function openIDProvider(
  cluster: OAuthCluster,
  { issuer, ca }: Listening & { readonly issuer: string },
  oidc: object = {},
): Promise<object> {
  const caFile = await cluster.write('provider-ca.crt', ca);
  const settings = { issuer, clientID: CLIENT_ID, caFile, ...oidc };
  return { name: 'company', type: 'oidc', displayName: 'Company account', oidc: settings };
}

/** A directory. `ldap`: changes of this section. */
export async function directoryProvider(
  cluster: OAuthCluster,
  { ldapsPort, ca }: Listening & { readonly ldapsPort: number },
  ldap: object = {},
): Promise<object> {
  const caFile = await cluster.write('directory-ca.crt', ca);
  const hosts = [`localhost:${ldapsPort}`];
  const settings = { hosts, caFile, bindDN: READER.dn, userSearch: { base: PEOPLE }, ...ldap };
  return { name: 'company', displayName: 'Company account', ldap: settings };
}

interface CompanyOptions {
  /** Changes of the entry of the provider. */
  readonly provider?: object;
  /** Changes of its section `oidc`. */
  readonly oidc?: object;
  /** Further sections of the configuration. */
  readonly configuration?: object;
  readonly others?: readonly object[];
  /** The replicas authenticate with a private key instead of the client secret. */
  readonly privateKey?: keyof typeof PAIRS;
  /** Changes of the registration of the replicas, whose issuer is given. */
  readonly client?: (issuer: string) => Partial<ClientMetadata>;
  /** Of the issuer. */
  readonly host?: string;
}

const PAIRS = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

interface Company {
  readonly upstream: RealOpenIDProvider;
  readonly a: OAuthReplica;
  readonly b: OAuthReplica;
}

/** Starts oidc-provider, and two replicas whose provider it is. */
export async function startCompany(cluster: OAuthCluster, options: CompanyOptions = {}): Promise<Company> {
  const { provider, oidc, configuration, others = [], privateKey, client, host } = options;
  const upstream = await RealOpenIDProvider.start();
  const pair = privateKey && PAIRS[privateKey]();
  await cluster.addProviderSecret({
    clientSecret: CLIENT_SECRET,
    bindPassword: READER.password,
    ...(pair && { privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }),
  });
  const settings = { ...(pair && { privateKeyRef: { name: 'ks-apiserver-identity-providers' } }), ...oidc };
  const company = { ...(await openIDProvider(cluster, upstream, settings)), ...provider };
  const [a, b] = await cluster.replicas({ ...configuration, identityProviders: [company, ...others] }, host);
  upstream.serve(`${a.issuer}/callback/company`, {
    ...(pair && {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: privateKey,
      jwks: { keys: [await exportJWK(pair.publicKey)] },
    }),
    ...client?.(a.issuer),
  });
  return { upstream, a, b };
}

/** Chooses the provider on the page of the browser. Returns the address to which the browser is sent. */
export async function chooseCompany(browser: SiteBrowser): Promise<URL> {
  const { status, headers, text: page } = await browser.submit({ provider: 'company' });
  expect(status, page).to.equal(303);
  return new URL(text(headers.location));
}

export const pathOf = ({ pathname, search }: URL): string => pathname + search;
