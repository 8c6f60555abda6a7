// Which CA vouches for the certificate of a connection: decided here, for each connection and each set of CAs.
// `socket.authorized` cannot be asked: it is true for a CA of either kind, and stays true on a connection that was
// kept, or a session that was resumed, after the CA was removed.
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { type CertificateChain, CertificateError, verifyChain } from './certificate-chain.ts';
import type { DelegatedAuthentication } from './delegated-authentication.ts';

export type CertificateUse = 'client' | 'frontProxy';

/** The leaf, believed or not. `error` says why not. */
export type PeerVerdict =
  | { readonly leaf: X509Certificate; readonly chain: CertificateChain; readonly error: undefined }
  | { readonly leaf: X509Certificate; readonly chain: undefined; readonly error: CertificateError };

interface Peer {
  readonly leaf: X509Certificate;
  readonly intermediates: readonly X509Certificate[];
  readonly verdicts: Partial<Record<CertificateUse, Kept>>;
}

interface Kept {
  readonly verdict: PeerVerdict;
  readonly generation: number;
  /** In ms since the epoch; outside of it the certificate is checked again. */
  readonly from: number;
  readonly until: number;
}

/** A refusal may be a matter of dates, so it is not kept forever. */
const REFUSAL_KEPT_MS = 10_000;
const MAX_INTERMEDIATES = 10;

export class PeerCertificates {
  readonly #now: () => number;
  /** Undefined for a connection without a certificate. */
  readonly #peers = new WeakMap<TLSSocket, { readonly peer: Peer | undefined }>();

  /** `now` in ms since the epoch: certificates have dates. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Undefined when the connection has no client certificate, or is not TLS at all. */
  verify(
    { socket }: IncomingMessage,
    use: CertificateUse,
    { generation, clientCAs, frontProxy }: DelegatedAuthentication,
  ): PeerVerdict | undefined {
    if (!(socket instanceof TLSSocket)) return undefined;
    const peer = this.#peerOf(socket);
    if (!peer) return undefined;
    const now = this.#now();
    const kept = peer.verdicts[use];
    if (kept && kept.generation === generation && now >= kept.from && now <= kept.until) return kept.verdict;
    const verdict = decide(peer, use === 'client' ? clientCAs : (frontProxy?.cas ?? []), now);
    const { notBefore: from, notAfter: until } = verdict.chain ?? {
      notBefore: now,
      notAfter: now + REFUSAL_KEPT_MS,
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

function decide(
  { leaf, intermediates }: Peer,
  anchors: readonly X509Certificate[],
  now: number,
): PeerVerdict {
  try {
    return { leaf, chain: verifyChain(leaf, intermediates, anchors, now), error: undefined };
  } catch (error) {
    if (error instanceof CertificateError) return { leaf, chain: undefined, error };
    return { leaf, chain: undefined, error: new CertificateError(`cannot be read: ${String(error)}`) };
  }
}

/**
 * What the client sent beside its leaf, as far as Node lets us see it. Node 24.21 and 26.8 drop it (nodejs/node
 * issue 65579), and a resumed session never has it: such a client is refused unless its issuer itself is among the
 * CAs that kube-apiserver publishes.
 */
function intermediatesOf(socket: TLSSocket): X509Certificate[] {
  const found: X509Certificate[] = [];
  let current: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (found.length < MAX_INTERMEDIATES) {
    const issuer: DetailedPeerCertificate | undefined = current.issuerCertificate;
    // A root names itself as its issuer.
    if (!issuer?.raw || issuer === current) break;
    found.push(new X509Certificate(issuer.raw));
    current = issuer;
  }
  return found;
}
