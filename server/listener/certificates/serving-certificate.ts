import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { pemCertificates } from '../../cluster/connection/pem-certificates.ts';

/** What the TLS listener shows to clients. */
export interface ServingCertificate {
  /** PEM, the leaf first. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
  /** What clients have to trust, PEM, one certificate or several. */
  readonly ca: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Where the serving certificate comes from: files, or our own CA. */
export interface CertificateSource {
  /** The certificate for the next connection. */
  current(): ServingCertificate;
  /** Calls `listener` after each change of the certificate or of the CA; returns the function that ends it. */
  onChange(listener: () => void): () => void;
}

/**
 * Checks that the pair can be served. Throws with one line that says why not; half-written files and a key that
 * belongs to another certificate are the usual reasons. `ca` falls back to the last certificate of the chain.
 */
export function checkServingCertificate(cert: string, key: string, ca?: string): ServingCertificate {
  const chain = pemCertificates(cert);
  const [leafPem] = chain;
  const last = chain.at(-1);
  if (leafPem === undefined || last === undefined) throw new Error('there is no certificate in certFile');
  const leaf = attempt('certFile holds no readable certificate', () => new X509Certificate(leafPem));
  for (const pem of chain) attempt('certFile holds a broken certificate', () => new X509Certificate(pem));
  const privateKey = attempt('keyFile holds no readable private key', () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(privateKey)) throw new Error('keyFile is not the key of certFile');
  attempt('TLS does not accept the certificate', () => createSecureContext({ cert, key }));
  const bundle = ca === undefined ? last : pemCertificates(ca).join('\n');
  if (bundle === '') throw new Error('there is no certificate in caFile');
  for (const pem of pemCertificates(bundle)) {
    attempt('caFile holds a broken certificate', () => new X509Certificate(pem));
  }
  return {
    cert,
    key,
    ca: `${bundle}\n`,
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
  };
}

/** The reason without the library's text, which may quote the key; it stays in the cause. */
function attempt<T>(reason: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new Error(reason, { cause: error });
  }
}
