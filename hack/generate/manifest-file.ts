export interface ManifestFile {
  /** Below manifests/. */
  readonly path: string;
  readonly about: string;
  readonly documents: readonly object[];
}
