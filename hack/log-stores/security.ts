// Configures the OpenSearch security plugin: TLS and basic authentication. Only the administrator's client
// certificate has permissions.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyPair } from '../control-plane/certificate-authority.ts';

export interface NodeSecurity {
  /** CA of the certificates of node and administrator, PEM. */
  readonly ca: string;
  readonly node: KeyPair;
  /** Common name of the administrator's certificate. */
  readonly admin: string;
}

/** Returns 200 without authentication when the plugin is ready. */
export const SECURITY_READY_PATH = '/_plugins/_security/health';

const FOLDER = 'opensearch-security';
const PASSWORDS = {
  http: { anonymous_auth_enabled: false },
  authc: {
    basic: {
      http_enabled: true,
      order: 0,
      http_authenticator: { type: 'basic', challenge: true },
      authentication_backend: { type: 'intern' },
    },
  },
};
/** The plugin requires all of these files at its first start. Tests create users and roles over HTTP. */
const CONFIGURATIONS: Readonly<Record<string, object>> = {
  config: { config: { dynamic: PASSWORDS } },
  internalusers: {},
  roles: {},
  rolesmapping: {},
  actiongroups: {},
  tenants: {},
  nodesdn: {},
  allowlist: { config: { enabled: false, requests: {} } },
  audit: { config: { enabled: false } },
};
const FILES: Readonly<Record<string, string>> = {
  internalusers: 'internal_users',
  rolesmapping: 'roles_mapping',
  actiongroups: 'action_groups',
  nodesdn: 'nodes_dn',
};

/** Writes the files into the node's configuration folder, and returns the settings of the plugin. */
export async function writeSecurity(
  folder: string,
  { ca, node, admin }: NodeSecurity,
): Promise<Record<string, string>> {
  await mkdir(join(folder, FOLDER), { recursive: true });
  for (const [type, content] of Object.entries(CONFIGURATIONS)) {
    // JSON is YAML.
    const text = JSON.stringify({ _meta: { type, config_version: 2 }, ...content });
    await writeFile(join(folder, FOLDER, `${FILES[type] ?? type}.yml`), text);
  }
  const files = { 'ca.pem': ca, 'node.pem': node.cert, 'node.key': node.key };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text, { mode: 0o600 });
  }
  return {
    'http.type': 'org.opensearch.security.http.SecurityHttpServerTransport',
    'transport.type': 'org.opensearch.security.ssl.http.netty.SecuritySSLNettyTransport',
    ...pemSettings('http'),
    ...pemSettings('transport'),
    'plugins.security.ssl.http.enabled': 'true',
    'plugins.security.authcz.admin_dn': `CN=${admin}`,
    'plugins.security.allow_default_init_securityindex': 'true',
  };
}

function pemSettings(layer: 'http' | 'transport'): Record<string, string> {
  const prefix = `plugins.security.ssl.${layer}.pem`;
  return {
    [`${prefix}cert_filepath`]: 'node.pem',
    [`${prefix}key_filepath`]: 'node.key',
    [`${prefix}trustedcas_filepath`]: 'ca.pem',
  };
}
