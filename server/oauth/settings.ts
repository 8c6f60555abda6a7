// The configuration of the token handler in the terms of its parts: what is left open there is decided here (issuer,
// audience, lifetimes of each client). Reads no files and no Secrets; that is the business of clients/.
import type { ResolvedConfiguration } from '../../apis/config/v1alpha1/configuration.ts';
import { SCOPES } from '../../apis/oauth/scopes.ts';
import type { ConfiguredClient } from './clients/oauth-client.ts';
import { PAGE_CLIENT, pageClient } from './clients/page-client.ts';

type Configuration = ResolvedConfiguration['oauth'];

/** Sizes in bytes, times in ms. */
export interface OAuthSettings
  extends Pick<
    Configuration,
    'sessionsPerUser' | 'verifiedTokens' | 'trustedProxies' | 'passwords' | 'throttle' | 'keys'
  > {
  readonly audience: string;
  readonly clients: readonly ConfiguredClient[];
  /** Whether access tokens count while sessions cannot be seen. */
  readonly acceptWhenStale: boolean;
}

/** Undefined when the token handler is turned off. */
export function oauthSettings(
  config: Pick<ResolvedConfiguration, 'oauth' | 'platform' | 'listeners'>,
): OAuthSettings | undefined {
  const { oauth, platform, listeners } = config;
  if (!oauth.enabled) return undefined;
  const { sessionsPerUser, verifiedTokens, trustedProxies, passwords, throttle, keys } = oauth;
  return {
    audience: oauth.audience || platform.name,
    clients: clientsOf(oauth, platform.name, issuerOf(oauth, listeners.secure.port)),
    sessionsPerUser,
    verifiedTokens,
    trustedProxies,
    passwords,
    throttle,
    keys,
    acceptWhenStale: oauth.whenStale === 'accept',
  };
}

/** The issuer when the secure listener has this port. */
export function issuerOf({ issuer }: Pick<Configuration, 'issuer'>, securePort: number): string {
  return issuer || `https://localhost:${securePort}/oauth`;
}

const WITHOUT_SECRET = { secretFiles: [], secretRefs: [], wellKnownSecret: undefined };

function clientsOf(oauth: Configuration, platform: string, issuer: string): ConfiguredClient[] {
  const clients =
    oauth.clients.length > 0
      ? oauth.clients.map((client) => configured(client, oauth))
      : [defaultClient(platform, oauth)];
  if (clients.some(({ id }) => id === PAGE_CLIENT)) return clients;
  const page = { ...pageClient(issuer, lifetimes(oauth)), ...WITHOUT_SECRET, postLogoutRedirectURIs: [] };
  return [...clients, page];
}

function configured(client: Configuration['clients'][number], shared: Configuration): ConfiguredClient {
  return {
    id: client.id,
    displayName: client.displayName || client.id,
    isPublic: client.public,
    requiresPKCE: client.pkce === 'required',
    rotatesRefreshTokens: client.refreshTokens === 'rotated',
    grants: client.grants,
    redirectURIs: client.redirectURIs,
    postLogoutRedirectURIs: client.postLogoutRedirectURIs,
    scopes: client.scopes,
    accessTokenLifetime: seconds(client.accessTokenLifetime || shared.accessTokenLifetime),
    refreshIdleLifetime: seconds(client.refreshIdleLifetime || shared.refreshIdleLifetime),
    sessionLifetime: seconds(client.sessionLifetime || shared.sessionLifetime),
    secretFiles: client.secretFiles,
    secretRefs: [client.secretRef, client.nextSecretRef].filter(({ name }) => name !== ''),
    wellKnownSecret: undefined,
  };
}

/** The pair of the specification: id and secret are the platform's name. */
function defaultClient(name: string, shared: Configuration): ConfiguredClient {
  return {
    id: name,
    displayName: name,
    isPublic: false,
    requiresPKCE: true,
    rotatesRefreshTokens: true,
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
    postLogoutRedirectURIs: [],
    scopes: SCOPES,
    ...lifetimes(shared),
    secretFiles: [],
    secretRefs: [],
    wellKnownSecret: name,
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
