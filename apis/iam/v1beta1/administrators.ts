/** The group of the first user, bound to cluster-admin by the manifests. */
export function administratorsGroup(platform: string): string {
  return `${platform}-admins`;
}
