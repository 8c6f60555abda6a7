// Type of an OAuth client, and interface of the client registry.
import type { GrantType } from '../../../apis/oauth/grant-types.ts';
import type { SigningAlgorithm } from '../keys/key-set.ts';
import type { SourceThrottle } from '../throttle/delays.ts';

/** A configured client. Lifetimes in seconds. */
export interface OAuthClient {
  readonly id: string;
  readonly displayName: string;
  /** A public client has no secret and must use PKCE. */
  readonly isPublic: boolean;
  /** If false, a request without a challenge is accepted; a challenge that is sent is enforced. */
  readonly requiresPKCE: boolean;
  /** If false, one refresh token is valid for the whole session, protected by the client secret. */
  readonly rotatesRefreshTokens: boolean;
  /** Of its ID tokens (`id_token_signed_response_alg`); access tokens are always signed with ES256. */
  readonly idTokenAlgorithm: SigningAlgorithm;
  /** Whether its sessions outlive the browser session with which they began. */
  readonly keepAfterSignOut: boolean;
  readonly grants: readonly GrantType[];
  readonly redirectURIs: readonly string[];
  readonly scopes: readonly string[];
  readonly accessTokenLifetime: number;
  readonly refreshIdleLifetime: number;
  readonly sessionLifetime: number;
}

export interface SecretReference {
  readonly name: string;
  readonly key: string;
  /** The key can be absent. */
  readonly optional?: boolean;
}

/** A configured client with the sources of its secrets. */
export interface ConfiguredClient extends OAuthClient {
  /** Exact URIs. */
  readonly postLogoutRedirectURIs: readonly string[];
  /** Receives logout tokens; empty for none. */
  readonly backchannelLogoutURI: string;
  readonly secretFiles: readonly string[];
  /** Secrets in the namespace of the server. */
  readonly secretRefs: readonly SecretReference[];
  /** Of the default client only. */
  readonly wellKnownSecret: string | undefined;
}

export interface ClientRegistry {
  get(id: string): OAuthClient | undefined;
  /** Constant time over all secrets of the client; takes as long for an unknown client. */
  checkSecret(id: string, secret: string): boolean;
  /** Of secrets that do not match. */
  readonly throttle?: SourceThrottle | undefined;
}
