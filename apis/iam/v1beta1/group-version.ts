// Defines the group and version of the IAM API, and the name of the administrators' user group.

export const VERSION = 'v1beta1';

/** The API group of users, credentials and sessions, for instance `iam.platform.io`. */
export function groupName(platform: string): string {
  return `iam.${platform}.io`;
}

/** User group of the first administrator. The manifests bind it to cluster-admin. */
export function administratorsGroup(platform: string): string {
  return `${platform}-admins`;
}
