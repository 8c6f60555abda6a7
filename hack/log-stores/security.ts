// What the security plugin of OpenSearch starts with: TLS with the certificates that are given, passwords as the way to
// sign in, and nobody who may do anything but who has the administrator's certificate. Users and roles come later, over HTTP.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyPair } from '../control-plane/certificate-authority.ts';

export interface NodeSecurity {
  /** PEM; has signed the node's certificate and the administrator's. */
  readonly ca: string;
  readonly node: KeyPair;
  /** The common name of the administrator's certificate. */
  readonly admin: string;
}

/** Answers 200 when users can be asked for their passwords, whoever asks. */
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
/** It reads all of these files when it has no index yet, and does not start without one. */
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

/** Writes its files into the node's configuration folder, and returns its settings. */
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
