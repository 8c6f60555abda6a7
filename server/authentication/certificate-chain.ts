// Validates a client certificate chain against a set of CAs (RFC 5280, 6). Certificates with unsupported critical
// extensions are rejected.
import 'reflect-metadata';
import type { X509Certificate } from 'node:crypto';
import { BasicConstraintsExtension, X509Certificate as ParsedCertificate } from '@peculiar/x509';

/** A valid chain, from the leaf to the trust anchor. Its validity (ms since the epoch) is the intersection of all certificates. */
export interface CertificateChain {
  readonly certificates: readonly X509Certificate[];
  readonly notBefore: number;
  readonly notAfter: number;
}

/** The reason for rejecting a certificate, for the log. */
export class CertificateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CertificateError';
  }
}

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_PURPOSE = '2.5.29.37.0';
// Basic constraints, key usage, extended key usage and alternative names. Other critical extensions, such as name constraints, are
// not checked here, so they are not supported.
const SUPPORTED = new Set(['2.5.29.19', '2.5.29.15', '2.5.29.37', '2.5.29.17']);
const MAX_DEPTH = 6;
/** Maximum number of signature checks: a client could send many cross-signed intermediates. */
const MAX_CHECKS = 50;

/** Returns the first valid chain at `now` (ms since the epoch). Throws CertificateError without one. */
export function verifyChain(
  leaf: X509Certificate,
  intermediates: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
  now: number,
): CertificateChain {
  const search: Search = {
    intermediates,
    anchors,
    now,
    checks: 0,
    reason: 'not signed by a trusted CA',
  };
  const chain = extend(search, [leaf]);
  if (!chain) throw new CertificateError(search.reason);
  return {
    certificates: chain,
    notBefore: Math.max(...chain.map(notBefore)),
    notAfter: Math.min(...chain.map(notAfter)),
  };
}

interface Search {
  readonly intermediates: readonly X509Certificate[];
  readonly anchors: readonly X509Certificate[];
  readonly now: number;
  checks: number;
  /** The reason of the last failure. */
  reason: string;
}

function extend(search: Search, chain: readonly X509Certificate[]): readonly X509Certificate[] | undefined {
  const last = chain[chain.length - 1];
  if (!last || !usable(search, last, chain.length - 1)) return undefined;
  for (const anchor of search.anchors) {
    // A CA that is presented as client certificate is a chain of one.
    if (anchor.raw.equals(last.raw)) return chain;
    if (issued(search, last, anchor) && usable(search, anchor, chain.length)) return [...chain, anchor];
  }
  if (chain.length >= MAX_DEPTH) return undefined;
  for (const candidate of search.intermediates) {
    if (chain.some((seen) => seen.raw.equals(candidate.raw)) || !issued(search, last, candidate)) continue;
    const found = extend(search, [...chain, candidate]);
    if (found) return found;
  }
  return undefined;
}

function issued(search: Search, subject: X509Certificate, issuer: X509Certificate): boolean {
  if (!subject.checkIssued(issuer)) return false;
  if (++search.checks > MAX_CHECKS) throw new CertificateError('too many possible chains');
  if (subject.verify(issuer.publicKey)) return true;
  search.reason = `the signature is not by "${oneLine(issuer.subject)}"`;
  return false;
}

/** `below` is the number of certificates under this one: 0 for the leaf. */
function usable(search: Search, certificate: X509Certificate, below: number): boolean {
  const problem = problemOf(certificate, below, search.now);
  if (problem === undefined) return true;
  search.reason = `"${oneLine(certificate.subject)}" ${problem}`;
  return false;
}

function problemOf(certificate: X509Certificate, below: number, now: number): string | undefined {
  if (now < notBefore(certificate)) return `is not valid before ${certificate.validFromDate.toISOString()}`;
  if (now > notAfter(certificate)) return `expired at ${certificate.validToDate.toISOString()}`;
  const purposes: readonly string[] | undefined = certificate.keyUsage;
  // RFC 5280, 4.2.1.12: without the extension every purpose is allowed.
  if (purposes !== undefined && !allowsClients(purposes)) return 'is not for client authentication';
  const { unsupported, pathLength } = extensionsOf(certificate);
  if (unsupported !== undefined) {
    return `has an unsupported critical extension (${unsupported})`;
  }
  if (below === 0) return undefined;
  if (!certificate.ca) return 'is not a CA';
  return pathLength !== undefined && below - 1 > pathLength ? 'must not have a CA below it' : undefined;
}

interface Extensions {
  /** The first unsupported critical extension. */
  readonly unsupported: string | undefined;
  readonly pathLength: number | undefined;
}

/** Cache of extensions by certificate. Parsing takes more than 1 ms, and every new connection uses the same CAs. */
const known = new WeakMap<X509Certificate, Extensions>();

function extensionsOf(certificate: X509Certificate): Extensions {
  let extensions = known.get(certificate);
  if (!extensions) {
    const parsed = new ParsedCertificate(certificate.raw);
    extensions = {
      unsupported: parsed.extensions.find(({ critical, type }) => critical && !SUPPORTED.has(type))?.type,
      pathLength: parsed.getExtension(BasicConstraintsExtension)?.pathLength,
    };
    known.set(certificate, extensions);
  }
  return extensions;
}

function allowsClients(purposes: readonly string[]): boolean {
  return purposes.includes(CLIENT_AUTH) || purposes.includes(ANY_PURPOSE);
}

const notBefore = (certificate: X509Certificate): number => certificate.validFromDate.getTime();
const notAfter = (certificate: X509Certificate): number => certificate.validToDate.getTime();

function oneLine(name: string): string {
  return name.replaceAll('\n', ', ').slice(0, 200);
}
