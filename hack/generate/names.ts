// Validates the platform name, and derives the namespace from the platform name. The generated manifests contain
// both names.
import { readFile } from 'node:fs/promises';
import { UsageError } from '../../apis/reading/command-line.ts';

/** The configurable names of an installation; the manifests derive from them. */
export interface Names {
  /** The `<platform>` of the API groups, for instance `resources.<platform>.io`. */
  readonly platform: string;
  readonly namespace: string;
}

/** Name of Deployment, Service, ServiceAccount and container, for every platform. */
export const SERVER = 'ks-apiserver';

const DNS_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** Names for a platform; throws a UsageError if `platform` cannot be part of an API group. */
export function namesFor(platform: string): Names {
  if (!DNS_LABEL.test(platform) || platform.length > 50) {
    throw new UsageError(
      `the platform name ${JSON.stringify(platform)} cannot be part of an API group: use at most 50 lower-case letters, digits and dashes, beginning with a letter`,
    );
  }
  return { platform, namespace: `${platform}-system` };
}

/** The platform name of the current manifests. */
export async function readPlatform(file: string): Promise<string> {
  const value: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (
    typeof value === 'object' &&
    value !== null &&
    'platform' in value &&
    typeof value.platform === 'string'
  ) {
    return value.platform;
  }
  throw new Error(`${file}: no "platform"; run npm run generate -- --platform NAME`);
}
