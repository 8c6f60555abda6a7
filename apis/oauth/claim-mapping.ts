// Maps the claims of access tokens to user attributes. This server and kube-apiserver use the same mapping.

/** User and group names need no prefix, because admission rejects `system:` and colons in them. */
export const CLAIM_MAPPING = {
  username: { claim: 'sub', prefix: '' },
  groups: { claim: 'groups', prefix: '' },
  uid: { claim: 'uid' },
} as const;

/** Key of the user extra in which kube-apiserver forwards the id of a token. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

const JTI_PREFIX = 'JTI=';

export function credentialID(jti: string): string {
  return `${JTI_PREFIX}${jti}`;
}

/** Returns the `jti` in a credential id; undefined if the credential is not a JWT. */
export function jtiOf(credential: string): string | undefined {
  return credential.startsWith(JTI_PREFIX) ? credential.slice(JTI_PREFIX.length) : undefined;
}

/** Prefix of the `jti` of our access tokens, before the session id. */
export const OWN_JTI = 'ks.';
/** Prefix of the `jti` of our ID tokens. kube-apiserver accepts ID tokens only if configured. */
export const ID_TOKEN_JTI = 'ki.';

/** Message of the 401 for a genuine ID token where only access tokens are accepted. */
export const ID_TOKEN_REJECTED = 'this is an ID token; send the access token';
