// Parser of certificate bundles in PEM format.
/** With the labels that Node accepts. */
const BEGIN = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/;
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the certificates of a PEM bundle, one PEM text per certificate. Ignores all other content. */
export function pemCertificates(bundle: string): string[] {
  return bundle.match(BLOCK) ?? [];
}

/** False for a bundle that Node accepts as a CA, but with which it rejects every server without a reason. */
export function hasCertificate(bundle: string): boolean {
  return BEGIN.test(bundle);
}
