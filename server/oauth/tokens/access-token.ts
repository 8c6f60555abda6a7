import { OWN_JTI } from '../../../apis/oauth/claim-mapping.ts';
import type { CallContext } from '../../cluster/call-context.ts';

/** Claims of an access token (RFC 9068), checked for presence and type. Times in seconds since the epoch. */
export interface AccessTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  /** `ks.<session id>.<random>`: recognisably ours, and names its session. */
  readonly jti: string;
  readonly client_id: string;
  readonly groups: readonly string[];
  /** Id of the session. */
  readonly sid: string;
  /** Uid of the user object. */
  readonly uid: string;
  readonly scope?: string;
}

export interface AccessTokenVerifier {
  /**
   * The claims of a token that is ours, unexpired, of a live session and of an enabled user.
   * Undefined when the token is not of our making (another issuer, no JWT); throws Unauthorized when it is and is bad,
   * ServiceUnavailable when that cannot be told now. Synchronous for a token that was verified a moment ago.
   */
  verify(
    token: string,
    context: CallContext,
  ): Promise<AccessTokenClaims | undefined> | AccessTokenClaims | undefined;
}

const JTI = /^(?:ks|ki)\.(s-[a-z2-7]{20})\.[\w-]{16,64}$/;

/** The session that the `jti` of an access token names; undefined for another one. */
export function sessionOf(jti: string): string | undefined {
  return jti.startsWith(OWN_JTI) ? sessionOfAny(jti) : undefined;
}

/** The session that any `jti` of ours names, of an access token or an id token; undefined for a foreign one. */
export function sessionOfAny(jti: string): string | undefined {
  return JTI.exec(jti)?.[1];
}
