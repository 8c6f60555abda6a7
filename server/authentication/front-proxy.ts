// Front-proxy authenticator: reads the user from request headers that kube-apiserver (the front proxy) sets. The
// headers are trusted only with a TLS client certificate from the request-header CA.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { newServiceUnavailable, newUnauthorized } from '../../apis/meta/v1/errors.ts';
import { type AuthenticationRequest, type Authenticator, CallerRejected } from './authenticator.ts';
import { commonNameOf } from './certificate-subject.ts';
import type { AuthenticationConfig, FrontProxy } from './delegated-authentication.ts';
import type { FrontProxyStatus } from './front-proxy-status.ts';
import { extraFields, utf8 } from './identity-headers.ts';
import type { PeerCertificates } from './peer-certificates.ts';
import type { UserInfo } from './user.ts';

export class FrontProxyAuthenticator implements Authenticator {
  readonly name = 'front-proxy';
  readonly #config: AuthenticationConfig;
  readonly #peers: PeerCertificates;
  readonly #status: FrontProxyStatus;

  constructor(config: AuthenticationConfig, peers: PeerCertificates, status: FrontProxyStatus) {
    this.#config = config;
    this.#peers = peers;
    this.#status = status;
  }

  /**
   * Returns true for a request with the user header and a valid certificate of the front proxy, or with the user header before the
   * settings are loaded.
   */
  recognises({ request, secure }: Pick<AuthenticationRequest, 'request' | 'secure'>): boolean {
    if (!secure) return false;
    const config = this.#config.current();
    if (!config) return hasDefaultUserHeader(request);
    const proxy = config.frontProxy;
    return (
      proxy !== undefined && hasValue(request, proxy.usernameHeaders) && this.hasCertificate(request.socket)
    );
  }

  /** Returns true for a connection with a valid certificate of the front proxy. */
  hasCertificate(socket: Socket): boolean {
    const config = this.#config.current();
    if (!config?.frontProxy) return false;
    const verdict = this.#peers.verify({ socket }, 'frontProxy', config);
    return verdict?.chain !== undefined && isAllowed(commonNameOf(verdict.leaf), config.frontProxy);
  }

  authenticate({ request, secure }: AuthenticationRequest): UserInfo | undefined {
    if (!secure) return undefined;
    const config = this.#config.current();
    if (!config) {
      // The client may be the front proxy, so it has to retry.
      if (hasDefaultUserHeader(request)) throw newServiceUnavailable('the front proxy is not known yet');
      return undefined;
    }
    const proxy = config.frontProxy;
    if (!proxy) {
      if (hasDefaultUserHeader(request)) this.#status.rejected('noCA', 'no request-header CA is published');
      return undefined;
    }
    if (!hasValue(request, proxy.usernameHeaders)) return undefined;
    const verdict = this.#peers.verify(request, 'frontProxy', config);
    if (!verdict) {
      this.#status.rejected('noCertificate', 'a request without a client certificate');
      return undefined;
    }
    const { leaf, error } = verdict;
    if (error) {
      // Not parsed: anyone can present this certificate.
      const [, name = ''] = /^CN=(.*)$/m.exec(leaf.subject) ?? [];
      this.#status.rejected('untrustedCertificate', `the certificate "${name}": ${error.message}`);
      throw newUnauthorized(new Error('not a certificate of the front proxy', { cause: error }));
    }
    const commonName = commonNameOf(leaf);
    if (!isAllowed(commonName, proxy)) {
      this.#status.rejected('name', `the name "${commonName}"`);
      throw newUnauthorized(new Error(`"${commonName}" is not an allowed name of the front proxy`));
    }
    this.#status.accepted(commonName);
    try {
      return userFrom(request, proxy);
    } catch (error) {
      throw new CallerRejected(error);
    }
  }
}

function isAllowed(commonName: string, { allowedNames }: FrontProxy): boolean {
  return allowedNames.length === 0 || allowedNames.includes(commonName);
}

/** Before the settings are read, only the default header name of kube-apiserver is known. */
function hasDefaultUserHeader(request: IncomingMessage): boolean {
  return request.headers['x-remote-user'] !== undefined;
}

/** Reads the user from the headers. Throws Unauthorized for invalid UTF-8, because replacement characters could make two names equal. */
function userFrom(request: IncomingMessage, proxy: FrontProxy): UserInfo {
  return {
    name: firstValue(request, proxy.usernameHeaders),
    uid: firstValue(request, proxy.uidHeaders),
    groups: values(request, proxy.groupHeaders),
    extra: extraFields(request, proxy.extraHeaderPrefixes),
  };
}

// The following functions use `headersDistinct`, because `headers` joins several headers of one name by commas: the group
// `a,system:masters` would equal the groups `a` and `system:masters`. They skip empty values.

function hasValue(request: IncomingMessage, names: readonly string[]): boolean {
  // Most requests have none of these headers, and `headersDistinct` costs more than `headers`.
  return names.some(
    (name) =>
      request.headers[name] !== undefined && request.headersDistinct[name]?.some((value) => value !== ''),
  );
}

/** Returns the first non-empty value of these headers, or an empty string. */
function firstValue({ headersDistinct }: IncomingMessage, names: readonly string[]): string {
  for (const name of names) {
    for (const value of headersDistinct[name] ?? []) {
      if (value !== '') return utf8(value);
    }
  }
  return '';
}

/** Returns all non-empty values of these headers. */
function values({ headersDistinct }: IncomingMessage, names: readonly string[]): string[] {
  const found: string[] = [];
  for (const name of names) {
    for (const value of headersDistinct[name] ?? []) {
      if (value !== '') found.push(utf8(value));
    }
  }
  return found;
}
