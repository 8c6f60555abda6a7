// Serves the metadata (OpenID Connect Discovery; RFC 8414) and the JWK Set (RFC 7517) of the authorization server.
// Both documents are public.
import { GRANT_TYPES } from '../../../apis/oauth/grant-types.ts';
import type { ServerMetadata } from '../../../apis/oauth/metadata.ts';
import type { Handler } from '../../request/request-context.ts';
import type { ConfiguredClient } from '../clients/oauth-client.ts';
import { writePublicJSON } from '../http/oauth-response.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { SIGNING_ALGORITHMS } from '../keys/key-set.ts';
import { ACR_VALUES } from '../sessions/proof.ts';

/** RFC 8414, 3.1: the path of the issuer follows the well-known part. */
export const AUTHORIZATION_SERVER = '/.well-known/oauth-authorization-server/oauth';

export interface MetadataSource {
  readonly issuer: () => string;
  readonly clients: readonly Pick<ConfiguredClient, 'isPublic' | 'grants' | 'scopes'>[];
}

export function metadataHandler(source: MetadataSource): Handler {
  return (context) => writePublicJSON(context, metadataOf(source), MAX_AGE_SECONDS);
}

const MAX_AGE_SECONDS = 300;

/** Lists only features that a configured client can use. */
export function metadataOf({ issuer, clients }: MetadataSource): ServerMetadata {
  const url = issuer();
  const grants = GRANT_TYPES.filter((grant) => clients.some((client) => client.grants.includes(grant)));
  const withCode = grants.includes('authorization_code');
  const withSecret = clients.some(({ isPublic }) => !isPublic)
    ? ['client_secret_basic', 'client_secret_post']
    : [];
  const methods = clients.some(({ isPublic }) => isPublic) ? [...withSecret, 'none'] : withSecret;
  return {
    issuer: url,
    jwks_uri: `${url}/keys`,
    token_endpoint: `${url}/token`,
    token_endpoint_auth_methods_supported: methods,
    userinfo_endpoint: `${url}/userinfo`,
    revocation_endpoint: `${url}/revoke`,
    revocation_endpoint_auth_methods_supported: methods,
    end_session_endpoint: `${url}/logout`,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    ...(withSecret.length === 0
      ? {}
      : {
          introspection_endpoint: `${url}/introspect`,
          introspection_endpoint_auth_methods_supported: withSecret,
        }),
    ...(withCode
      ? {
          authorization_endpoint: `${url}/authorize`,
          pushed_authorization_request_endpoint: `${url}/par`,
          response_modes_supported: ['query', 'form_post'],
          code_challenge_methods_supported: ['S256'],
          acr_values_supported: [...ACR_VALUES],
          prompt_values_supported: ['none', 'login', 'select_account', 'consent'],
          authorization_response_iss_parameter_supported: true,
        }
      : {}),
    response_types_supported: withCode ? ['code'] : [],
    ...(grants.includes('urn:ietf:params:oauth:grant-type:device_code')
      ? { device_authorization_endpoint: `${url}/device_authorization` }
      : {}),
    scopes_supported: [...new Set(clients.flatMap(({ scopes }) => scopes))],
    grant_types_supported: grants,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...SIGNING_ALGORITHMS],
    claims_supported: [
      'iss',
      'sub',
      'aud',
      'exp',
      'iat',
      'jti',
      'auth_time',
      'acr',
      'amr',
      'nonce',
      'at_hash',
      'sid',
      'uid',
      'preferred_username',
      'name',
      'email',
      'email_verified',
      'groups',
    ],
    claims_parameter_supported: withCode,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

interface KeysEndpointOptions {
  readonly keys: Pick<KeyRing, 'jwks'>;
  /** Time between the publication of a key and its first signature, in ms. Caches must expire within it. */
  readonly publishAhead: number;
}

/**
 * Maximum `max-age` of the JWK Set. kube-apiserver does not refetch the JWK Set for an unknown `kid` while its copy is valid
 * for more than 30 s. After an immediate rotation it therefore rejects new tokens for up to this time.
 */
const MAX_KEYS_AGE_SECONDS = 60;

/** The JWK Set. 503 until the keys are loaded. */
export function keysHandler({ keys, publishAhead }: KeysEndpointOptions): Handler {
  const maxAge = Math.min(MAX_KEYS_AGE_SECONDS, Math.floor(publishAhead / 2000));
  return (context) => writePublicJSON(context, keys.jwks(), maxAge);
}
