// Interface of the sources of the serving certificate (files, or issued by the server), with functions that validate
// certificates.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { pemCertificates } from '../../files/pem-certificates.ts';

/** A serving certificate with its private key and CA bundle. */
export interface ServingCertificate {
  /** PEM, the leaf first. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
  /** The CA bundle for clients, PEM. */
  readonly ca: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A source of the serving certificate: certificate files, or the server itself. */
export interface CertificateSource {
  /** The certificate for new connections. */
  current(): ServingCertificate;
  /** Calls `listener` after each change of the certificate or the CA. Returns the function that removes it. */
  onChange(listener: () => void): () => void;
}

/** The change listeners of a CertificateSource. An exception in one listener does not affect the others. */
export class ChangeListeners {
  readonly #listeners = new Set<() => void>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(listener: () => void): () => void {
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  notify(): void {
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

/**
 * The root certificates that verify the serving certificate at the address `host`, PEM. Undefined if the certificate is not for
 * this address, because a proxy has another one there, and without a root.
 */
export function rootsFor(
  { cert, ca }: Pick<ServingCertificate, 'cert' | 'ca'>,
  host: string,
): string | undefined {
  const leaf = new X509Certificate(cert);
  const name = host.replace(/^\[(.*)\]$/, '$1');
  if ((isIP(name) ? leaf.checkIP(name) : leaf.checkHost(name)) === undefined) return undefined;
  return rootsIn(ca);
}

/** The root certificates of a bundle, PEM; undefined if it has none. */
export function rootsIn(bundle: string): string | undefined {
  const roots = pemCertificates(bundle).filter((pem) => {
    const certificate = new X509Certificate(pem);
    return certificate.checkIssued(certificate);
  });
  return roots.length === 0 ? undefined : `${roots.join('\n')}\n`;
}

/**
 * Validates a certificate chain and its key. Throws an Error with a one-line reason, for instance for half-written files or a
 * mismatched key. Without `ca`, the CA bundle is the last certificate of the chain.
 */
export function checkServingCertificate(cert: string, key: string, ca?: string): ServingCertificate {
  const chain = pemCertificates(cert);
  const [leafPem] = chain;
  const last = chain.at(-1);
  if (leafPem === undefined || last === undefined) throw new Error('certFile contains no certificate');
  const leaf = attempt('certFile contains no readable certificate', () => new X509Certificate(leafPem));
  for (const pem of chain)
    attempt('certFile contains an invalid certificate', () => new X509Certificate(pem));
  const privateKey = attempt('keyFile contains no readable private key', () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(privateKey)) throw new Error('keyFile does not match certFile');
  attempt('TLS rejects the certificate', () => createSecureContext({ cert, key }));
  const bundle = ca === undefined ? last : pemCertificates(ca).join('\n');
  if (bundle === '') throw new Error('caFile contains no certificate');
  for (const pem of pemCertificates(bundle)) {
    attempt('caFile contains an invalid certificate', () => new X509Certificate(pem));
  }
  return {
    cert,
    key,
    ca: `${bundle}\n`,
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
  };
}

/** Replaces the message of the library, which may quote the key; it stays in `cause`. */
function attempt<T>(reason: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new Error(reason, { cause: error });
  }
}
