/**
 * What the token handler says about itself: OpenID Connect Discovery 1.0, 3 and RFC 8414, 2 in one document. A member
 * is there only when it is true.
 */
export interface ServerMetadata {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly authorization_endpoint?: string;
  readonly token_endpoint?: string;
  readonly userinfo_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly introspection_endpoint?: string;
  readonly device_authorization_endpoint?: string;
  readonly end_session_endpoint?: string;
  readonly scopes_supported: readonly string[];
  readonly response_types_supported: readonly string[];
  readonly response_modes_supported?: readonly string[];
  readonly grant_types_supported: readonly string[];
  readonly subject_types_supported: readonly ['public'];
  readonly id_token_signing_alg_values_supported: readonly ['ES256'];
  readonly token_endpoint_auth_methods_supported?: readonly string[];
  readonly revocation_endpoint_auth_methods_supported?: readonly string[];
  readonly introspection_endpoint_auth_methods_supported?: readonly string[];
  readonly code_challenge_methods_supported?: readonly ['S256'];
  readonly authorization_response_iss_parameter_supported?: true;
  readonly claims_supported: readonly string[];
  readonly claims_parameter_supported: false;
  readonly request_parameter_supported: false;
  /** Left out it would mean true (OpenID Connect Discovery 1.0, 3). */
  readonly request_uri_parameter_supported: false;
}
