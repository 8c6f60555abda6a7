// Objects as the cache keeps them, bytes and a few facts. This folder makes them of what the cluster sends; it knows no
// lists and no watches.
/** One object as the cache keeps it: its bytes, and the few facts that reads need. Never changed once made. */
export interface CachedObject<Facts> {
  /** `name`, or `namespace/name`: the sort order of lists. */
  readonly key: string;
  readonly name: string;
  /** Empty for cluster-scoped resources. */
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly facts: Facts;
  /** The whole object as JSON, with `kind` and `apiVersion` of our group in front. */
  readonly bytes: Buffer;
  /** The value of its member `metadata`, as JSON: a slice of `bytes`. */
  readonly metadata: Buffer;
}
