// Verifies TLS client certificates against the cluster CAs or the request-header CAs. Certificates are verified
// again after a change of the CAs.
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { type CertificateChain, CertificateError, verifyChain } from './certificate-chain.ts';
import type { DelegatedAuthentication } from './delegated-authentication.ts';

type CertificateUse = 'client' | 'frontProxy';

/** The result of verifying a client certificate: its chain, or the error. */
type PeerVerdict =
  | { readonly leaf: X509Certificate; readonly chain: CertificateChain; readonly error: undefined }
  | { readonly leaf: X509Certificate; readonly chain: undefined; readonly error: CertificateError };

interface Peer {
  readonly leaf: X509Certificate;
  readonly intermediates: readonly X509Certificate[];
  readonly verdicts: Partial<Record<CertificateUse, CachedVerdict>>;
}

interface CachedVerdict {
  readonly verdict: PeerVerdict;
  readonly generation: number;
  /** Validity of the verdict, in ms since the epoch. Outside this range the certificate is verified again. */
  readonly from: number;
  readonly until: number;
}

/** TTL of a cached rejection. A certificate that is not valid yet becomes valid later. */
const REJECTION_TTL_MS = 10_000;
const MAX_INTERMEDIATES = 10;

/**
 * Node's `socket.authorized` is not sufficient: it is true for a certificate of either set of CAs, and stays true on
 * an open connection after a CA is removed.
 */
export class PeerCertificates {
  readonly #now: () => number;
  /** `peer` is undefined for a connection without a certificate. */
  readonly #peers = new WeakMap<TLSSocket, { readonly peer: Peer | undefined }>();

  /** `now`: ms since the epoch. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Returns undefined for a connection without a client certificate, or without TLS. */
  verify(
    { socket }: Pick<IncomingMessage, 'socket'>,
    use: CertificateUse,
    { generation, clientCAs, frontProxy }: DelegatedAuthentication,
  ): PeerVerdict | undefined {
    if (!(socket instanceof TLSSocket)) return undefined;
    const peer = this.#peerOf(socket);
    if (!peer) return undefined;
    const now = this.#now();
    const cached = peer.verdicts[use];
    if (cached && cached.generation === generation && now >= cached.from && now <= cached.until) {
      return cached.verdict;
    }
    const verdict = verdictOf(peer, use === 'client' ? clientCAs : (frontProxy?.cas ?? []), now);
    const { notBefore: from, notAfter: until } = verdict.chain ?? {
      notBefore: now,
      notAfter: now + REJECTION_TTL_MS,
    };
    peer.verdicts[use] = { verdict, generation, from, until };
    return verdict;
  }

  #peerOf(socket: TLSSocket): Peer | undefined {
    let known = this.#peers.get(socket);
    if (!known) {
      const leaf = socket.getPeerX509Certificate();
      known = { peer: leaf && { leaf, intermediates: intermediatesOf(socket), verdicts: {} } };
      this.#peers.set(socket, known);
    }
    return known.peer;
  }
}

function verdictOf(
  { leaf, intermediates }: Peer,
  anchors: readonly X509Certificate[],
  now: number,
): PeerVerdict {
  try {
    return { leaf, chain: verifyChain(leaf, intermediates, anchors, now), error: undefined };
  } catch (error) {
    if (error instanceof CertificateError) return { leaf, chain: undefined, error };
    return { leaf, chain: undefined, error: new CertificateError(`is unreadable: ${String(error)}`) };
  }
}

/**
 * Returns the intermediates that the client sent. Node 24.21 and 26.8 do not expose them (nodejs/node issue 65579), and a resumed
 * session has none. The client is then rejected, unless kube-apiserver publishes the issuer of its certificate as a CA.
 */
function intermediatesOf(socket: TLSSocket): X509Certificate[] {
  const found: X509Certificate[] = [];
  let current: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (found.length < MAX_INTERMEDIATES) {
    const issuer: DetailedPeerCertificate | undefined = current.issuerCertificate;
    // A root is its own issuer.
    if (!issuer?.raw || issuer === current) break;
    found.push(new X509Certificate(issuer.raw));
    current = issuer;
  }
  return found;
}
