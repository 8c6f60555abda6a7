// Defines the API group, API version, resource name and kind of log queries.

export const VERSION = 'v1alpha2';

/** The only resource of the group; read-only and not stored. */
export const RESOURCE = 'logs';
export const SINGULAR = 'log';
export const KIND = 'Log';

/** The API group of log queries, for instance `logging.platform.io`. */
export function groupName(platform: string): string {
  return `logging.${platform}.io`;
}

/** The API group that existing consoles use; served under `/kapis` only. */
export function tenantGroupName(platform: string): string {
  return `tenant.${platform}.io`;
}

/** The name of the APIService; kube-apiserver requires `<version>.<group>`. */
export function apiServiceName(platform: string): string {
  return `${VERSION}.${groupName(platform)}`;
}
