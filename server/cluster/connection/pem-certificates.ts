const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the certificates of a PEM bundle, each as PEM text of its own; ignores all other content. */
export function pemCertificates(bundle: string): string[] {
  return bundle.match(BLOCK) ?? [];
}
