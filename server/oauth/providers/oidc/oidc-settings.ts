// Settings of an OpenID provider, with the defaults of its schema.
import type { SecretReference } from '../../clients/oauth-client.ts';

export interface OIDCSettings {
  /** As the provider spells it in its metadata and in `iss`. */
  readonly issuer: string;
  readonly clientID: string;
  readonly clientSecretRef: SecretReference;
  /** Replaces the client secret; without a name if there is none. */
  readonly privateKeyRef: SecretReference;
  /** `offline_access` is added if the provider supports it. */
  readonly scopes: readonly string[];
  /** Parameters that the provider needs beside those of OpenID Connect, such as `access_type: offline`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Names of claims, or JSON Pointers (RFC 6901) to nested ones. */
  readonly claims: { readonly name: string; readonly groups: string };
  /** Whether people sign out at the provider, too. */
  readonly signOut: boolean;
  /** PEM file with the CA certificates; empty for those of Node.js. */
  readonly caFile: string;
}
