// The aggregator in front of us: it has authenticated the caller and names it in headers. They are trusted only over TLS,
// with a client certificate of the request-header CA and an allowed name; all of these settings follow the cluster.
import type { IncomingMessage } from 'node:http';
import { newServiceUnavailable, newUnauthorized } from '../../apis/meta/v1/errors.ts';
import { type AuthenticationRequest, type Authenticator, CallerRefused } from './authenticator.ts';
import { commonNameOf } from './certificate-subject.ts';
import type { AuthenticationConfig, FrontProxy } from './delegated-authentication.ts';
import type { FrontProxyDiagnosis } from './front-proxy-diagnosis.ts';
import { extraOf, firstValue, hasValue, values } from './front-proxy-headers.ts';
import type { PeerCertificates } from './peer-certificates.ts';
import type { UserInfo } from './user.ts';

export class FrontProxyAuthenticator implements Authenticator {
  readonly name = 'front-proxy';
  readonly #config: AuthenticationConfig;
  readonly #peers: PeerCertificates;
  readonly #diagnosis: FrontProxyDiagnosis;

  constructor(config: AuthenticationConfig, peers: PeerCertificates, diagnosis: FrontProxyDiagnosis) {
    this.#config = config;
    this.#peers = peers;
    this.#diagnosis = diagnosis;
  }

  authenticate({ request, secure }: AuthenticationRequest): UserInfo | undefined {
    if (!secure) return undefined;
    const config = this.#config.current();
    if (!config) return this.#whileUnknown(request);
    const proxy = config.frontProxy;
    if (!proxy) {
      if (claimsAnIdentity(request)) this.#diagnosis.refused('noCA', 'no request-header CA is published');
      return undefined;
    }
    if (!hasValue(request, proxy.usernameHeaders)) return undefined;
    const verdict = this.#peers.verify(request, 'frontProxy', config);
    if (!verdict) {
      this.#diagnosis.refused('noCertificate', 'a caller without a client certificate');
      return undefined;
    }
    const { leaf, error } = verdict;
    if (error) {
      this.#diagnosis.refused('otherCA', `the certificate "${commonNameOf(leaf)}": ${error.message}`);
      throw newUnauthorized(new Error('not a certificate of the front proxy', { cause: error }));
    }
    const commonName = commonNameOf(leaf);
    if (proxy.allowedNames.length > 0 && !proxy.allowedNames.includes(commonName)) {
      this.#diagnosis.refused('name', `the name "${commonName}"`);
      throw newUnauthorized(new Error(`"${commonName}" is not an allowed name of the front proxy`));
    }
    try {
      return userFrom(request, proxy);
    } catch (error) {
      throw new CallerRefused(error);
    }
  }

  /** Before the cluster has been asked: a caller with a certificate may be the front proxy, so it has to come back. */
  #whileUnknown(request: IncomingMessage): undefined {
    if (claimsAnIdentity(request)) throw newServiceUnavailable('the front proxy is not known yet');
    return undefined;
  }
}

/** The header that kube-apiserver sets by default; a different one is not known yet at this point. */
function claimsAnIdentity(request: IncomingMessage): boolean {
  return request.headers['x-remote-user'] !== undefined;
}

/** Throws Unauthorized when a value is not UTF-8: two different names must never become one. */
function userFrom(request: IncomingMessage, proxy: FrontProxy): UserInfo {
  return {
    name: firstValue(request, proxy.usernameHeaders),
    uid: firstValue(request, proxy.uidHeaders),
    groups: values(request, proxy.groupHeaders),
    extra: extraOf(request, proxy.extraHeaderPrefixes),
  };
}
