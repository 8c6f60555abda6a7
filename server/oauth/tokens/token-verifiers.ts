// The verifiers of tokens that authenticate a user: of access tokens, and of the ID tokens of clients for which the
// configuration allows it.
import { newUnauthorized } from '../../../apis/meta/v1/errors.ts';
import { ID_TOKEN_JTI, ID_TOKEN_REJECTED } from '../../../apis/oauth/claim-mapping.ts';
import { SIGNING_ALGORITHMS } from '../keys/key-set.ts';
import {
  ACCESS_TOKEN_TYPE,
  type AccessTokenClaims,
  ID_TOKEN_TYPE,
  readAccessToken,
  readClaims,
  type TokenClaims,
} from './access-token.ts';
import { type TokenKind, TokenVerifier, type TokenVerifierOptions } from './token-verifier.ts';

export interface TokenVerifiers {
  readonly verifier: TokenVerifier<AccessTokenClaims>;
  /** Of the ID tokens that the gateway accepts. */
  readonly idTokens: TokenVerifier<TokenClaims>;
  /** The clients of these ID tokens. */
  readonly idTokensAtGateway: readonly string[];
}

export function newTokenVerifiers({
  audience,
  idTokensAtGateway,
  ...shared
}: Omit<TokenVerifierOptions<TokenClaims>, 'kind'> & {
  readonly audience: string;
  readonly idTokensAtGateway: readonly string[];
}): TokenVerifiers {
  return {
    verifier: new TokenVerifier({ ...shared, kind: accessTokens(audience) }),
    idTokens: new TokenVerifier({ ...shared, kind: idTokensOf(idTokensAtGateway) }),
    idTokensAtGateway,
  };
}

/** Access tokens (RFC 9068). The keys of RS256 sign ID tokens only. */
export function accessTokens(audience: string): TokenKind<AccessTokenClaims> {
  return {
    typ: ACCESS_TOKEN_TYPE,
    otherTyp: ID_TOKEN_TYPE,
    algorithms: ['ES256'],
    audience,
    read: readAccessToken,
  };
}

/**
 * The ID tokens of these clients, with the user that kube-apiserver derives from them. Ours have one audience, so a list is
 * invalid, as it is for the rule in the authentication configuration of kube-apiserver.
 */
export function idTokensOf(clients: readonly string[]): TokenKind<TokenClaims> {
  return {
    typ: ID_TOKEN_TYPE,
    algorithms: SIGNING_ALGORITHMS,
    read: ({ aud, groups = [], ...payload }) => {
      if (typeof aud !== 'string' || !clients.includes(aud)) {
        throw newUnauthorized(new Error('an ID token of another client'), ID_TOKEN_REJECTED);
      }
      return readClaims({ ...payload, aud, groups, client_id: aud }, ID_TOKEN_JTI);
    },
  };
}
