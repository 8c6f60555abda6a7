import { X509Certificate } from 'node:crypto';
import { pemCertificates } from '../cluster/connection/pem-certificates.ts';

/** What kube-apiserver publishes for extension servers: whom to trust, and in which headers. */
export interface DelegatedAuthentication {
  /** Changes whenever a CA does; what was decided about a certificate holds for one generation. */
  readonly generation: number;
  /** The CAs whose client certificates are users of the cluster. */
  readonly clientCAs: readonly X509Certificate[];
  /** Undefined when kube-apiserver runs without a front proxy. */
  readonly frontProxy: FrontProxy | undefined;
}

export interface FrontProxy {
  readonly cas: readonly X509Certificate[];
  /** Empty allows every name under these CAs. */
  readonly allowedNames: readonly string[];
  /** Header names in lower case; the first one with a value counts. */
  readonly usernameHeaders: readonly string[];
  /** Empty when kube-apiserver's flag is not set: the header is not trusted then. */
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** Where the current settings come from; undefined until they have been read for the first time. */
export interface AuthenticationConfig {
  current(): DelegatedAuthentication | undefined;
}

/** The data of ConfigMap `kube-system/extension-apiserver-authentication`. */
export type AuthenticationData = Readonly<Record<string, string>>;

/** Throws on data that cannot be understood; half of it is never used. */
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
    if (found.length === 0 && pem.trim() !== '') throw new Error('no certificate in it');
    return found;
  } catch (cause) {
    throw new Error(`${key} cannot be read`, { cause });
  }
}

function headers(data: AuthenticationData, key: string): string[] {
  return strings(data, key)
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}

/** These values are JSON arrays of strings inside a string. */
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
