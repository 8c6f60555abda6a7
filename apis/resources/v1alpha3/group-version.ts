// API group and version of the resources of this server, such as nodes.
export const VERSION = 'v1alpha3';

/** Returns the API group, for instance `resources.platform.io`. */
export function groupName(platform: string): string {
  return `resources.${platform}.io`;
}

/** Returns the name of the APIService. kube-apiserver requires `<version>.<group>`. */
export function apiServiceName(platform: string): string {
  return `${VERSION}.${groupName(platform)}`;
}
