export type GrantType =
  | 'password'
  | 'refresh_token'
  | 'authorization_code'
  | 'urn:ietf:params:oauth:grant-type:device_code';

/** A configured client. Lifetimes in seconds. */
export interface OAuthClient {
  readonly id: string;
  readonly displayName: string;
  /** A public client has no secret; PKCE stands in for it. */
  readonly isPublic: boolean;
  readonly grants: readonly GrantType[];
  readonly redirectURIs: readonly string[];
  readonly scopes: readonly string[];
  readonly accessTokenLifetime: number;
  readonly refreshIdleLifetime: number;
  readonly sessionLifetime: number;
}

export interface ClientRegistry {
  get(id: string): OAuthClient | undefined;
  /** Constant time over all secrets of the client, and as long for an unknown client. */
  checkSecret(id: string, secret: string): boolean;
}
