// Creates OAuth clients with all grants and scopes, for tests.
import type { ConfiguredClient, OAuthClient } from '../../../server/oauth/clients/oauth-client.ts';

/** Returns an OAuth client with all grants and scopes, and the fields in `overrides`. */
export function newClient(id: string, overrides: Partial<OAuthClient> = {}): OAuthClient {
  return {
    id,
    displayName: id,
    isPublic: false,
    requiresPKCE: true,
    rotatesRefreshTokens: true,
    idTokenAlgorithm: 'ES256',
    keepAfterSignOut: false,
    grants: [
      'password',
      'refresh_token',
      'authorization_code',
      'urn:ietf:params:oauth:grant-type:device_code',
    ],
    redirectURIs: [],
    scopes: ['openid', 'profile', 'email', 'groups'],
    accessTokenLifetime: 7200,
    refreshIdleLifetime: 7 * 86_400,
    sessionLifetime: 30 * 86_400,
    ...overrides,
  };
}

/** A configured client: `newClient` with the sources of its secrets. */
export function newConfiguredClient(id: string, overrides: Partial<ConfiguredClient> = {}): ConfiguredClient {
  return {
    ...newClient(id),
    postLogoutRedirectURIs: [],
    backchannelLogoutURI: '',
    secretFiles: [],
    secretRefs: [],
    wellKnownSecret: undefined,
    ...overrides,
  };
}
