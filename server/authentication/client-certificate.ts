// Authenticator that reads the user from a verified client certificate.
import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { newServiceUnavailable, newUnauthorized, StatusError } from '../../apis/meta/v1/errors.ts';
import { CREDENTIAL_ID } from '../../apis/oauth/claim-mapping.ts';
import type { AuthenticationRequest, Authenticator, Credential } from './authenticator.ts';
import { subjectOf } from './certificate-subject.ts';
import type { AuthenticationConfig } from './delegated-authentication.ts';
import type { PeerCertificates } from './peer-certificates.ts';
import type { UserInfo } from './user.ts';

/**
 * Authenticates callers by client certificates of the cluster CA. The common name is the user, the organizations are the groups.
 *
 * The certificate of a forwarded request belongs to the proxy, not to the caller: kube-apiserver presents its kubelet client
 * certificate for every caller with `get nodes/proxy`, to the address and kubelet port in the status of the Node.
 */
export class ClientCertificateAuthenticator implements Authenticator {
  readonly name = 'client-certificate';
  readonly #config: AuthenticationConfig;
  readonly #peers: PeerCertificates;
  readonly #users = new WeakMap<X509Certificate, UserInfo>();

  constructor(config: AuthenticationConfig, peers: PeerCertificates) {
    this.#config = config;
    this.#peers = peers;
  }

  /** Returns true for a request with a valid certificate of a user. */
  recognises(request: Pick<AuthenticationRequest, 'request' | 'secure'>): boolean {
    try {
      return this.#userOf(request) !== undefined;
    } catch (error) {
      if (error instanceof StatusError) return false;
      throw error;
    }
  }

  authenticate(context: AuthenticationRequest): UserInfo | undefined {
    const user = this.#userOf(context);
    if (user) context.credential = CERTIFICATE;
    return user;
  }

  #userOf({ request, secure }: Pick<AuthenticationRequest, 'request' | 'secure'>): UserInfo | undefined {
    if (!secure) return undefined;
    const config = this.#config.current();
    const verdict = this.#peers.verify(request, 'client', config ?? UNKNOWN);
    if (!verdict) return undefined;
    if (!config) throw newServiceUnavailable('the cluster CA is not known yet');
    const { leaf, error } = verdict;
    if (error) throw newUnauthorized(new Error('client certificate', { cause: error }));
    if (isForwarded(request)) {
      throw newUnauthorized(new Error('client certificate of a proxy: the request is marked as forwarded'));
    }
    let user = this.#users.get(leaf);
    if (!user) {
      user = userOf(leaf);
      this.#users.set(leaf, user);
    }
    // As kube-apiserver does, a certificate without a common name is ignored.
    return user.name === '' ? undefined : user;
  }
}

const CERTIFICATE: Credential = { kind: 'certificate' };
/** The marks of proxies. kube-apiserver sets several `X-Forwarded-…` headers, which its callers cannot remove. */
const FORWARDED = /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/;

function isForwarded({ headers }: IncomingMessage): boolean {
  return Object.keys(headers).some((name) => FORWARDED.test(name));
}

const UNKNOWN = { generation: -1, clientCAs: [], frontProxy: undefined };

function userOf(leaf: X509Certificate): UserInfo {
  const { commonName, organizations, uids } = subjectOf(leaf);
  if (uids.length > 1) throw newUnauthorized(new Error('client certificate with several uids'));
  const fingerprint = leaf.fingerprint256.replaceAll(':', '').toLowerCase();
  return {
    name: commonName,
    uid: uids[0] ?? '',
    groups: organizations,
    extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] },
  };
}
