// Parser of certificate bundles in PEM format.
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the certificates of a PEM bundle, one PEM text per certificate. Ignores all other content. */
export function pemCertificates(bundle: string): string[] {
  return bundle.match(BLOCK) ?? [];
}
