/** Returns true if resourceVersion `a` is later than `b`. Resource versions are decimal numbers of any length. */
export function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}

/** Returns true if the value is a resourceVersion that can be compared. The ones of kube-apiserver are revisions of etcd. */
export function isComparable(resourceVersion: unknown): resourceVersion is string {
  return typeof resourceVersion === 'string' && /^(?:0|[1-9]\d{0,18})$/.test(resourceVersion);
}
