// Creates objects of a fictitious kind `Thing`, for tests of the cache and the reflector.
import { ObjectReader, type ObjectSource, type ReadObject } from '../../../server/cache/object-reader.ts';

/** A resource for tests, whose only fact is `spec.size`. */
export const THINGS: ObjectSource<{ readonly size: number }> = {
  group: 'resources.platform.io',
  version: 'v1alpha3',
  kind: 'Thing',
  source: { path: '/api/v1/things' },
  facts: (object) => ({ size: (object as { spec?: { size?: number } }).spec?.size ?? 0 }),
};

/** Returns an object as kube-apiserver sends it. */
export function rawThing(name: string, resourceVersion: number, size = 0): Buffer {
  const metadata = {
    name,
    uid: `uid-${name}`,
    resourceVersion: String(resourceVersion),
    labels: { of: name },
  };
  return Buffer.from(JSON.stringify({ kind: 'Thing', apiVersion: 'v1', metadata, spec: { size } }));
}

export function readThing(
  name: string,
  resourceVersion: number,
  size = 0,
): ReadObject<{ readonly size: number }> {
  return new ObjectReader(THINGS).read(rawThing(name, resourceVersion, size));
}
