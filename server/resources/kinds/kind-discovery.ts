// Reads all resources of the cluster that support list and watch, from aggregated discovery. One request reads the core
// group, and one request reads all other groups.
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import type { Kind } from '../kind.ts';

const ACCEPT =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,' +
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';

export type GroupVersion = Pick<Kind, 'group' | 'version'>;

export interface Discovery {
  /**
   * All kinds that can be listed and watched, in the order of discovery: the core group, then the other groups by
   * priority. A kind with several versions has the preferred version.
   */
  readonly kinds: readonly Kind[];
  /** The aggregated APIs that do not respond, so that their kinds are unknown. They do not delay the others. */
  readonly unavailable: readonly GroupVersion[];
}

export async function discover(client: ClusterClient, signal: AbortSignal): Promise<Discovery> {
  const [core, groups] = await Promise.all(
    ['/api', '/apis'].map((path) => client.json({ path, headers: { accept: ACCEPT }, signal })),
  );
  return { kinds: [...kindsOf(core), ...kindsOf(groups)], unavailable: unavailableIn(groups) };
}

/** Reads the versions of an APIGroupDiscoveryList that kube-apiserver could not request from their APIService. */
export function unavailableIn(list: unknown): GroupVersion[] {
  return array(record(list)['items'])
    .map(record)
    .flatMap((item) => {
      const group = text(recordIn(item, 'metadata')['name']);
      return array(item['versions'])
        .map(record)
        .filter(({ freshness, resources }) => freshness === 'Stale' && array(resources).length === 0)
        .map(({ version }) => ({ group, version: text(version) }));
    });
}

/** Reads an APIGroupDiscoveryList. */
export function kindsOf(list: unknown): Kind[] {
  const found = new Map<string, Kind>();
  for (const item of array(record(list)['items']).map(record)) {
    const group = text(recordIn(item, 'metadata')['name']);
    for (const version of array(item['versions']).map(record)) {
      for (const resource of array(version['resources']).map(record)) {
        const kind = kindOf(resource, group, text(version['version']));
        const key = `${group}/${kind?.plural}`;
        if (kind && !found.has(key)) found.set(key, kind);
      }
    }
  }
  return [...found.values()];
}

/** Of a resource: a label of DNS. */
const NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

function kindOf(
  resource: Readonly<Record<string, unknown>>,
  group: string,
  version: string,
): Kind | undefined {
  const verbs = new Set(array(resource['verbs']));
  const plural = text(resource['resource']);
  const kind = text(recordIn(resource, 'responseKind')['kind']);
  // The server of an aggregated API chooses the name: `a.b` in the group `c` would have the exact name of `a` in `b.c`.
  if (!NAME.test(plural) || kind === '' || !verbs.has('list') || !verbs.has('watch')) return undefined;
  return { group, version, plural, kind, namespaced: resource['scope'] === 'Namespaced' };
}
