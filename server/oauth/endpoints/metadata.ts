// What the token handler says about itself, for OpenID Connect clients and kube-apiserver, and after RFC 8414. Made
// from what is mounted, so that it promises nothing else; open to everybody from the start.
import type { ServerMetadata } from '../../../apis/oauth/metadata.ts';
import type { Handler } from '../../request/request-context.ts';
import type { ConfiguredClient } from '../clients/oauth-client.ts';
import { writePublicJSON } from '../http/public-document.ts';

export const OPENID_CONFIGURATION = '/oauth/.well-known/openid-configuration';
/** RFC 8414, 3.1: the issuer's own path comes behind the well-known part. */
export const AUTHORIZATION_SERVER = '/.well-known/oauth-authorization-server/oauth';

export interface MetadataSource {
  readonly issuer: () => string;
  /** Paths that have a handler, such as `/oauth/token`. */
  readonly mounted: ReadonlySet<string>;
  /** Grants that the token endpoint knows. */
  readonly grants: readonly string[];
  readonly clients: readonly Pick<ConfiguredClient, 'isPublic' | 'grants' | 'scopes'>[];
}

/** Paths and their handlers. */
export function metadataHandlers(source: MetadataSource): Map<string, Handler> {
  const handler: Handler = (context) => writePublicJSON(context, metadataOf(source), MAX_AGE_SECONDS);
  return new Map([OPENID_CONFIGURATION, AUTHORIZATION_SERVER].map((path) => [path, handler]));
}

const MAX_AGE_SECONDS = 300;
const WITH_SECRET = ['client_secret_basic', 'client_secret_post'] as const;

/** Each member with the path that must be mounted for it. */
const ENDPOINTS = {
  authorization_endpoint: '/authorize',
  token_endpoint: '/token',
  userinfo_endpoint: '/userinfo',
  revocation_endpoint: '/revoke',
  introspection_endpoint: '/introspect',
  device_authorization_endpoint: '/device_authorization',
  end_session_endpoint: '/logout',
} as const;

export function metadataOf({ issuer, mounted, grants, clients }: MetadataSource): ServerMetadata {
  const url = issuer();
  const offered = grants.filter((grant) =>
    clients.some((client) => client.grants.some((one) => one === grant)),
  );
  const withSecret = clients.some(({ isPublic }) => !isPublic) ? WITH_SECRET : [];
  const methods = clients.some(({ isPublic }) => isPublic) ? [...withSecret, 'none'] : withSecret;
  // Endpoints that no client may use are left out.
  const usable: Partial<Record<keyof typeof ENDPOINTS, boolean>> = {
    authorization_endpoint: offered.includes('authorization_code'),
    device_authorization_endpoint: offered.includes('urn:ietf:params:oauth:grant-type:device_code'),
    introspection_endpoint: withSecret.length > 0,
  };
  const has = (name: keyof typeof ENDPOINTS): boolean =>
    mounted.has(`/oauth${ENDPOINTS[name]}`) && usable[name] !== false;
  const withCode = has('authorization_endpoint');
  const names = (Object.keys(ENDPOINTS) as (keyof typeof ENDPOINTS)[]).filter(has);
  return {
    issuer: url,
    jwks_uri: `${url}/keys`,
    ...Object.fromEntries(names.map((name) => [name, `${url}${ENDPOINTS[name]}`])),
    scopes_supported: [...new Set(clients.flatMap(({ scopes }) => scopes))],
    response_types_supported: withCode ? ['code'] : [],
    ...(withCode
      ? {
          response_modes_supported: ['query'],
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
        }
      : {}),
    grant_types_supported: offered,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    ...(has('token_endpoint') ? { token_endpoint_auth_methods_supported: methods } : {}),
    ...(has('revocation_endpoint') ? { revocation_endpoint_auth_methods_supported: methods } : {}),
    ...(has('introspection_endpoint') ? { introspection_endpoint_auth_methods_supported: withSecret } : {}),
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
