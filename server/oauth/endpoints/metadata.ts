// What the token handler says about itself, for OpenID Connect clients and kube-apiserver, and after RFC 8414. It
// promises nothing that no client may use; open to everybody from the start.
import { GRANT_TYPES } from '../../../apis/oauth/grant-types.ts';
import type { ServerMetadata } from '../../../apis/oauth/metadata.ts';
import type { Handler } from '../../request/request-context.ts';
import type { ConfiguredClient } from '../clients/oauth-client.ts';
import { writePublicJSON } from '../http/public-document.ts';

export const OPENID_CONFIGURATION = '/oauth/.well-known/openid-configuration';
/** RFC 8414, 3.1: the issuer's own path comes behind the well-known part. */
export const AUTHORIZATION_SERVER = '/.well-known/oauth-authorization-server/oauth';

export interface MetadataSource {
  readonly issuer: () => string;
  readonly clients: readonly Pick<ConfiguredClient, 'isPublic' | 'grants' | 'scopes'>[];
}

/** Paths and their handlers. */
export function metadataHandlers(source: MetadataSource): Map<string, Handler> {
  const handler: Handler = (context) => writePublicJSON(context, metadataOf(source), MAX_AGE_SECONDS);
  return new Map([OPENID_CONFIGURATION, AUTHORIZATION_SERVER].map((path) => [path, handler]));
}

const MAX_AGE_SECONDS = 300;

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
    ...(withSecret.length === 0
      ? {}
      : {
          introspection_endpoint: `${url}/introspect`,
          introspection_endpoint_auth_methods_supported: withSecret,
        }),
    ...(withCode
      ? {
          authorization_endpoint: `${url}/authorize`,
          response_modes_supported: ['query'],
          code_challenge_methods_supported: ['S256'],
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
    id_token_signing_alg_values_supported: ['ES256'],
    claims_supported: [
      'iss',
      'sub',
      'aud',
      'exp',
      'iat',
      'jti',
      'auth_time',
      'nonce',
      'at_hash',
      'sid',
      'uid',
      'preferred_username',
      'name',
      'email',
      'groups',
    ],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}
