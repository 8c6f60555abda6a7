// Checks the metadata of an OpenID provider when they are read: openid-client checks most of them only when a person needs them.

const ENDPOINTS = [
  ['authorization_endpoint', true],
  ['token_endpoint', true],
  ['jwks_uri', true],
  ['userinfo_endpoint', false],
  ['end_session_endpoint', false],
] as const;

/** `expected`: the configured issuer. Throws Error with the reason, for administrators. */
export function checkMetadata(metadata: Readonly<Record<string, unknown>>, expected: string): void {
  const { issuer, scopes_supported: scopes = [] } = metadata;
  // openid-client accepts other issuers of some providers, and those that differ in the final slash.
  if (issuer !== expected) throw new Error(`the issuer in its metadata is ${String(issuer)}`);
  if (!Array.isArray(scopes)) throw new Error('scopes_supported in its metadata is not a list');
  for (const [endpoint, isRequired] of ENDPOINTS) {
    const { [endpoint]: url } = metadata;
    if (url === undefined && !isRequired) continue;
    if (typeof url !== 'string' || URL.parse(url)?.protocol !== 'https:')
      throw new Error(`${endpoint} in its metadata is not an https URL`);
  }
}
