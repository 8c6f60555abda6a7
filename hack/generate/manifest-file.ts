/** A generated YAML file under manifests/: path, purpose and YAML documents. */
export interface ManifestFile {
  /** Path below manifests/. */
  readonly path: string;
  readonly about: string;
  readonly documents: readonly object[];
}
