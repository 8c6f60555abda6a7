/** A generated file under manifests/ as data. */
export interface ManifestFile {
  /** Path below manifests/. */
  readonly path: string;
  readonly about: string;
  readonly documents: readonly object[];
}
