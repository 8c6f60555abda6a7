// Parser of the ConfigMap kube-system/extension-apiserver-authentication, with the CAs and header names for extension
// servers.
import { X509Certificate } from 'node:crypto';
import { pemCertificates } from '../files/pem-certificates.ts';

/** The CAs and headers that kube-apiserver publishes for extension servers. */
export interface DelegatedAuthentication {
  /** Increases with every change of the settings. A cached certificate verdict is valid for one generation. */
  readonly generation: number;
  /** The CAs of users with client certificates. */
  readonly clientCAs: readonly X509Certificate[];
  /** Undefined without a request-header CA. */
  readonly frontProxy: FrontProxy | undefined;
}

export interface FrontProxy {
  readonly cas: readonly X509Certificate[];
  /** Allowed common names. Empty allows every name. */
  readonly allowedNames: readonly string[];
  /** Header names in lower case; the first one with a value is used. */
  readonly usernameHeaders: readonly string[];
  /** Empty if kube-apiserver has no such flag. The header is then not trusted. */
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** Provides the current settings; undefined until they are loaded. */
export interface AuthenticationConfig {
  current(): DelegatedAuthentication | undefined;
}

/** The data of ConfigMap `kube-system/extension-apiserver-authentication`. */
export type AuthenticationData = Readonly<Record<string, string>>;

/** Parses the data of the ConfigMap. Throws an Error if any value is invalid. */
export function parseDelegatedAuthentication(
  data: AuthenticationData,
  generation: number,
): DelegatedAuthentication {
  const proxyCAs = certificates(data['requestheader-client-ca-file'] ?? '', 'requestheader-client-ca-file');
  return {
    generation,
    clientCAs: certificates(data['client-ca-file'] ?? '', 'client-ca-file'),
    frontProxy: proxyCAs.length === 0 ? undefined : frontProxy(data, proxyCAs),
  };
}

function frontProxy(data: AuthenticationData, cas: readonly X509Certificate[]): FrontProxy {
  return {
    cas,
    allowedNames: strings(data, 'requestheader-allowed-names'),
    usernameHeaders: headers(data, 'requestheader-username-headers'),
    uidHeaders: headers(data, 'requestheader-uid-headers'),
    groupHeaders: headers(data, 'requestheader-group-headers'),
    extraHeaderPrefixes: headers(data, 'requestheader-extra-headers-prefix'),
  };
}

function certificates(pem: string, key: string): X509Certificate[] {
  try {
    const found = pemCertificates(pem).map((block) => new X509Certificate(block));
    if (found.length === 0 && pem.trim() !== '') throw new Error('it contains no certificate');
    return found;
  } catch (cause) {
    throw new Error(`${key} is unreadable`, { cause });
  }
}

function headers(data: AuthenticationData, key: string): string[] {
  return strings(data, key)
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}

/** The values are JSON arrays of strings. */
function strings(data: AuthenticationData, key: string): string[] {
  const text = data[key];
  if (text === undefined || text.trim() === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${key} is not JSON`, { cause });
  }
  if (value === null) return [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw new Error(`${key} is not a list of strings`);
  }
  return value;
}
