// Converts the configuration section `oauth` to the settings of the authorization server. clients/ reads the client
// secrets.
import type { ResolvedConfiguration } from '../../apis/config/v1alpha1/configuration.ts';
import { KUBECTL_CLIENT } from '../../apis/oauth/kubectl-client.ts';
import { SCOPES } from '../../apis/oauth/scopes.ts';
import type { ConfiguredClient, SecretReference } from './clients/oauth-client.ts';
import type { ProviderSettings } from './identity-providers.ts';
import type { SignInPageTexts } from './page/sign-in-pages.ts';
import { ldapSettings } from './providers/ldap/ldap-settings.ts';
import type { OIDCSettings } from './providers/oidc/oidc-settings.ts';
import { PERSON_DELAY, THROTTLE, type ThrottleLimits } from './throttle/delays.ts';
import { issuerOf } from './tokens/token-issuer.ts';

type OAuthConfiguration = Pick<ResolvedConfiguration, 'oauth' | 'platform' | 'listeners' | 'explore'>;
type Configuration = ResolvedConfiguration['oauth'];

/** Sizes in bytes, times in ms. */
export interface OAuthSettings
  extends Pick<
    Configuration,
    'accessTokenLifetime' | 'sessionLifetime' | 'browserSession' | 'secondFactor' | 'trustedProxies'
  > {
  /** Audience of access tokens: the name of the platform, which programs that verify them know. */
  readonly audience: string;
  readonly signInPages: SignInPageTexts;
  readonly clients: readonly ConfiguredClient[];
  /** IDs of the clients whose ID tokens the gateway accepts. */
  readonly idTokensAtGateway: readonly string[];
  readonly identityProviders: readonly ProviderSettings[];
  readonly throttle: ThrottleLimits;
}

/** Returns the settings of the authorization server; undefined if it is disabled. */
export function oauthSettings(config: OAuthConfiguration): OAuthSettings | undefined {
  const { oauth, platform, listeners } = config;
  if (!oauth.enabled) return undefined;
  const { accessTokenLifetime, sessionLifetime, browserSession, secondFactor, trustedProxies, throttle } =
    oauth;
  // Otherwise the delay would tell whether a directory knows the name.
  const hasDirectory = oauth.identityProviders.some(({ type }) => type === 'ldap');
  return {
    audience: platform.name,
    signInPages: {
      ...oauth.signInPages,
      platformName: oauth.signInPages.platformName || platform.name,
    },
    clients: clientsOf(config, issuerOf(oauth, listeners.secure.port)),
    idTokensAtGateway: oauth.clients.filter((client) => client.idTokensAtGateway).map(({ id }) => id),
    accessTokenLifetime,
    sessionLifetime,
    browserSession,
    secondFactor,
    identityProviders: oauth.identityProviders.map(providerSettings),
    trustedProxies,
    throttle: { ...THROTTLE, ...throttle, ...(hasDirectory ? { accountDelay: PERSON_DELAY } : {}) },
  };
}

function providerSettings({
  name,
  displayName,
  type,
  accounts,
  groups,
  outageTolerance,
  ldap,
  oidc,
}: Configuration['identityProviders'][number]): ProviderSettings {
  const shared = {
    name,
    displayName: displayName || name,
    accounts,
    groups,
    outageToleranceMs: outageTolerance,
  };
  return type === 'oidc'
    ? { ...shared, type, oidc: oidc satisfies OIDCSettings }
    : { ...shared, type, ldap: ldapSettings(ldap) };
}

function clientsOf(
  { oauth, platform: { name: platform }, explore }: OAuthConfiguration,
  issuer: string,
): ConfiguredClient[] {
  const clients =
    oauth.clients.length > 0
      ? oauth.clients.map((client) => configured(client, oauth))
      : [defaultClient(platform, oauth)];
  const builtIn = [
    pageClient(issuer, oauth),
    ...(explore.enabled ? [exploreClient(issuer, oauth)] : []),
    kubectlClient(oauth),
  ];
  return [...clients, ...builtIn.filter(({ id }) => clients.every((client) => client.id !== id))];
}

function configured(client: Configuration['clients'][number], shared: Configuration): ConfiguredClient {
  return {
    id: client.id,
    displayName: client.displayName || client.id,
    isPublic: client.public,
    requiresPKCE: client.pkce === 'required',
    rotatesRefreshTokens: client.refreshTokens === 'rotated',
    idTokenAlgorithm: client.idTokenSignedResponseAlg,
    keepAfterSignOut: keepsAfterSignOut(client.id),
    grants: client.grants,
    redirectURIs: client.redirectURIs,
    postLogoutRedirectURIs: client.postLogoutRedirectURIs,
    backchannelLogoutURI: client.backchannelLogoutURI,
    scopes: client.scopes,
    ...lifetimes(shared),
    secretFiles: client.secretFiles,
    secretRefs: client.secretRef.name === '' ? [] : [client.secretRef, nextOf(client.secretRef)],
    wellKnownSecret: undefined,
  };
}

/** The session of kubectl is that of a terminal, which outlives the browser of its sign-in. */
function keepsAfterSignOut(id: string): boolean {
  return id === KUBECTL_CLIENT;
}

/** The second secret, while the client secret is rotated. */
function nextOf({ name, key }: SecretReference): SecretReference {
  return { name, key: `${key}-next`, optional: true };
}

/** The default client of the specification: id and secret are the platform's name. */
function defaultClient(name: string, shared: Configuration): ConfiguredClient {
  return {
    ...builtInClient(shared),
    id: name,
    displayName: name,
    isPublic: false,
    grants: [
      'password',
      'refresh_token',
      'authorization_code',
      'urn:ietf:params:oauth:grant-type:device_code',
    ],
    redirectURIs: [
      'http://localhost/callback',
      'http://localhost',
      'http://127.0.0.1/callback',
      'http://127.0.0.1',
    ],
    wellKnownSecret: name,
  };
}

/** `client_id` of the OpenAPI page (endpoints/description). A configured client with this id replaces the built-in one. */
const PAGE_CLIENT = 'openapi-page';
const PAGE_REDIRECT_PATH = '/openapi/page/oauth2-redirect.html';

const LOOPBACK_ALIASES: ReadonlyMap<string, string> = new Map([
  ['localhost', '127.0.0.1'],
  ['127.0.0.1', 'localhost'],
]);

/**
 * The public client of the OpenAPI page. PKCE replaces a secret, and codes are redirected only to a page of this server.
 * It has no refresh tokens and no other grant.
 */
function pageClient(issuer: string, shared: Configuration): ConfiguredClient {
  const { origin, hostname, port } = new URL(issuer);
  // A local server is reachable under both names.
  const alias = LOOPBACK_ALIASES.get(hostname);
  const origins = alias === undefined ? [origin] : [origin, `https://${alias}:${port || '443'}`];
  return {
    ...builtInClient(shared),
    id: PAGE_CLIENT,
    displayName: 'API description',
    grants: ['authorization_code'],
    redirectURIs: origins.map((each) => new URL(PAGE_REDIRECT_PATH, each).href),
  };
}

/** The public client of the page `/explore` (server/explore), which renews its tokens by single sign-on. */
function exploreClient(issuer: string, shared: Configuration): ConfiguredClient {
  return {
    ...builtInClient(shared),
    id: 'explore',
    displayName: 'Explore',
    grants: ['authorization_code'],
    redirectURIs: [new URL('/explore/callback', issuer).href],
    postLogoutRedirectURIs: [new URL('/explore', issuer).href],
  };
}

/**
 * The public client of kubelogin and other command-line programs. A configured client with this id replaces the built-in
 * one. Codes are redirected only to the user's own machine, on any port (RFC 8252, 7.3).
 */
function kubectlClient(shared: Configuration): ConfiguredClient {
  return {
    ...builtInClient(shared),
    id: KUBECTL_CLIENT,
    keepAfterSignOut: keepsAfterSignOut(KUBECTL_CLIENT),
    displayName: 'kubectl',
    grants: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    redirectURIs: ['http://127.0.0.1', 'http://localhost'],
  };
}

function builtInClient(shared: Configuration) {
  return {
    isPublic: true,
    requiresPKCE: true,
    rotatesRefreshTokens: true,
    idTokenAlgorithm: 'ES256' as const,
    keepAfterSignOut: false,
    postLogoutRedirectURIs: [],
    backchannelLogoutURI: '',
    scopes: SCOPES,
    ...lifetimes(shared),
    secretFiles: [],
    secretRefs: [],
    wellKnownSecret: undefined,
  };
}

function lifetimes(shared: Configuration) {
  return {
    accessTokenLifetime: seconds(shared.accessTokenLifetime),
    refreshIdleLifetime: seconds(shared.refreshIdleLifetime),
    sessionLifetime: seconds(shared.sessionLifetime),
  };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
