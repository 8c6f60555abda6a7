// What of an access token makes the caller: one table for our own authenticator and for the AuthenticationConfiguration
// that tells kube-apiserver the same, so that both roads lead to the same user.

/** Names of users and groups are as they are in the token: admission keeps `system:` and colons out of both. */
export const CLAIM_MAPPING = {
  username: { claim: 'sub', prefix: '' },
  groups: { claim: 'groups', prefix: '' },
  uid: { claim: 'uid' },
} as const;

/** The key under which kube-apiserver keeps the id of a token, as an extra of the user; it hands it on to us. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

const JTI_PREFIX = 'JTI=';

export function credentialID(jti: string): string {
  return `${JTI_PREFIX}${jti}`;
}

/** The `jti` in a credential id; undefined for one of another kind. */
export function jtiOf(credential: string): string | undefined {
  return credential.startsWith(JTI_PREFIX) ? credential.slice(JTI_PREFIX.length) : undefined;
}

/** What the `jti` of an access token of ours begins with, before the id of its session. */
export const OWN_JTI = 'ks.';
/** The same of an id token, which is no access token. kube-apiserver takes one only where it is told to. */
export const ID_TOKEN_JTI = 'ki.';
