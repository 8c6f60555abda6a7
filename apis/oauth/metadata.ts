// The JSON Schema of the authorization server metadata (OpenID Connect Discovery; RFC 8414).
import type { Static } from 'typebox';
import { Type } from '../reading/json-schema.ts';

const url = () => Type.Optional(Type.String());
const texts = () => Type.Optional(Type.Array(Type.String()));

/** Metadata of the authorization server. An optional field is present only if its feature is available. */
export const ServerMetadataSchema = Type.Object(
  {
    issuer: Type.String(),
    jwks_uri: Type.String(),
    authorization_endpoint: url(),
    pushed_authorization_request_endpoint: url(),
    token_endpoint: url(),
    userinfo_endpoint: url(),
    revocation_endpoint: url(),
    introspection_endpoint: url(),
    device_authorization_endpoint: url(),
    end_session_endpoint: url(),
    backchannel_logout_supported: Type.Optional(Type.Boolean()),
    backchannel_logout_session_supported: Type.Optional(Type.Boolean()),
    scopes_supported: Type.Array(Type.String()),
    response_types_supported: Type.Array(Type.String()),
    response_modes_supported: texts(),
    grant_types_supported: Type.Array(Type.String()),
    subject_types_supported: Type.Array(Type.String()),
    id_token_signing_alg_values_supported: Type.Array(Type.String()),
    token_endpoint_auth_methods_supported: texts(),
    revocation_endpoint_auth_methods_supported: texts(),
    introspection_endpoint_auth_methods_supported: texts(),
    code_challenge_methods_supported: texts(),
    acr_values_supported: texts(),
    // Initiating User Registration via OpenID Connect 1.0.
    prompt_values_supported: texts(),
    authorization_response_iss_parameter_supported: Type.Optional(Type.Boolean()),
    claims_supported: Type.Array(Type.String()),
    claims_parameter_supported: Type.Boolean(),
    request_parameter_supported: Type.Boolean(),
    // The default is true (OpenID Connect Discovery 1.0, 3).
    request_uri_parameter_supported: Type.Boolean(),
  },
  { additionalProperties: false, description: 'OpenID Connect Discovery 1.0, 3 and RFC 8414, 2.' },
);

export type ServerMetadata = Static<typeof ServerMetadataSchema>;
