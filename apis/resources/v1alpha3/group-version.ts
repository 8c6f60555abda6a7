export const VERSION = 'v1alpha3';

/** The API group of the platform's resources, for instance `resources.platform.io`. */
export function groupName(platform: string): string {
  return `resources.${platform}.io`;
}

/** The APIService that registers it: kube-apiserver demands `<version>.<group>`. */
export function apiServiceName(platform: string): string {
  return `${VERSION}.${groupName(platform)}`;
}
