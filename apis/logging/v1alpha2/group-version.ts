export const VERSION = 'v1alpha2';

/** The one resource of the group; it is read and never stored. */
export const RESOURCE = 'logs';
export const SINGULAR = 'log';
export const KIND = 'Log';

/** The API group of log queries, for instance `logging.platform.io`. */
export function groupName(platform: string): string {
  return `logging.${platform}.io`;
}

/** The group under which consoles have always asked; it is served under `/kapis` only. */
export function tenantGroupName(platform: string): string {
  return `tenant.${platform}.io`;
}

/** The APIService that registers it: kube-apiserver demands `<version>.<group>`. */
export function apiServiceName(platform: string): string {
  return `${VERSION}.${groupName(platform)}`;
}
