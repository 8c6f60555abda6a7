/** A generated YAML file under manifests/: its path, its purpose and its YAML documents as objects. */
export interface ManifestFile {
  /** Path below manifests/. */
  readonly path: string;
  readonly about: string;
  readonly documents: readonly object[];
}
