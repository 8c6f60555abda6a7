import type { Static } from 'typebox';
import type { TokenResponseSchema } from '../../../apis/oauth/forms.ts';
import type { OAuthClient } from '../clients/oauth-client.ts';

/** A token request whose form is well-formed and whose client is authenticated. */
export interface TokenRequest {
  readonly client: OAuthClient;
  readonly form: ReadonlyMap<string, string>;
  /** Address of the caller, behind trusted proxies the one that they name. */
  readonly source: string;
  readonly userAgent: string;
  /** Of the request that it came with, for records. */
  readonly requestID: string;
  readonly signal: AbortSignal;
}

/** RFC 6749, 5.1. */
export type TokenResponse = Readonly<Static<typeof TokenResponseSchema>>;

export interface Grant {
  readonly type: string;
  /** Throws OAuthError. */
  exchange(request: TokenRequest): Promise<TokenResponse>;
}
