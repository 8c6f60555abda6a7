const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a bundle, each as a PEM text of its own; whatever else stands in it is passed over. */
export function pemCertificates(bundle: string): string[] {
  return bundle.match(BLOCK) ?? [];
}
