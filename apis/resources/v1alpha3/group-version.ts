export const VERSION = 'v1alpha3';

/** API group of the platform's resources, for instance `resources.platform.io`. */
export function groupName(platform: string): string {
  return `resources.${platform}.io`;
}

/** Name of the APIService; kube-apiserver requires `<version>.<group>`. */
export function apiServiceName(platform: string): string {
  return `${VERSION}.${groupName(platform)}`;
}
