import type { IncomingMessage } from 'node:http';
import type { GrantType } from '../../../apis/oauth/grant-types.ts';

/** A configured client. Lifetimes in seconds. */
export interface OAuthClient {
  readonly id: string;
  readonly displayName: string;
  /** A public client has no secret; PKCE stands in for it. */
  readonly isPublic: boolean;
  /** Otherwise codes without a challenge are given out too; one that is sent counts all the same. */
  readonly requiresPKCE: boolean;
  /** Otherwise one refresh token counts for the whole session, and the secret of the client guards it. */
  readonly rotatesRefreshTokens: boolean;
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
}

/** A client as it is configured, with the places of its secrets. */
export interface ConfiguredClient extends OAuthClient {
  /** Exact URIs. */
  readonly postLogoutRedirectURIs: readonly string[];
  readonly secretFiles: readonly string[];
  /** Secrets in the namespace of the server. */
  readonly secretRefs: readonly SecretReference[];
  /** Of the default client only, whose secret everybody knows. */
  readonly wellKnownSecret: string | undefined;
}

/** Slows down who tries secrets. */
export interface SecretGuard {
  /** Before a secret is compared. Throws OAuthError 429. */
  enter(id: string, request: IncomingMessage): void;
  succeeded(id: string, request: IncomingMessage): void;
  failed(id: string, request: IncomingMessage): void;
}

export interface ClientRegistry {
  get(id: string): OAuthClient | undefined;
  /** Constant time over all secrets of the client, and as long for an unknown client. */
  checkSecret(id: string, secret: string): boolean;
  readonly guard?: SecretGuard | undefined;
}
