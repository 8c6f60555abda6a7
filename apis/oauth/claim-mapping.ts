// The mapping of access token claims to the user, shared by our authenticator and the generated
// AuthenticationConfiguration, so that this server and kube-apiserver derive the same user.

/** Names of users and groups have no prefix: admission rejects `system:` and colons in both. */
export const CLAIM_MAPPING = {
  username: { claim: 'sub', prefix: '' },
  groups: { claim: 'groups', prefix: '' },
  uid: { claim: 'uid' },
} as const;

/** The user extra in which kube-apiserver stores the token id and forwards it. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

const JTI_PREFIX = 'JTI=';

export function credentialID(jti: string): string {
  return `${JTI_PREFIX}${jti}`;
}

/** The `jti` in a credential id; undefined for another kind of credential id. */
export function jtiOf(credential: string): string | undefined {
  return credential.startsWith(JTI_PREFIX) ? credential.slice(JTI_PREFIX.length) : undefined;
}

/** Prefix of the `jti` of our access tokens, before the session id. */
export const OWN_JTI = 'ks.';
/** Prefix of the `jti` of our ID tokens. kube-apiserver accepts ID tokens only if configured. */
export const ID_TOKEN_JTI = 'ki.';
