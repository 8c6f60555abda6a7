// The kinds of the cluster, from the aggregated discovery of kube-apiserver.
import { type Client, objectPath } from 'ks-apiserver-client';

export interface Kind {
  /** As in lists: `pods` or `deployments.apps`. */
  readonly resource: string;
  /** `Deployment`. */
  readonly kind: string;
  readonly plural: string;
  /** Empty for the core group. */
  readonly group: string;
  /** With the preferred version, such as `apps/v1`. */
  readonly apiVersion: string;
  readonly namespaced: boolean;
  /** Not one of Kubernetes itself. */
  readonly isCustom: boolean;
  readonly shortNames: readonly string[];
}

/** The members of APIGroupDiscoveryList (apidiscovery.k8s.io/v2) that are used. */
interface Discovery {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind?: string };
        readonly scope: 'Cluster' | 'Namespaced';
        readonly verbs?: readonly string[];
        readonly shortNames?: readonly string[];
      }[];
    }[];
  }[];
}

type DiscoveredGroup = NonNullable<Discovery['items']>[number];

const ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export interface Discovered {
  /** The kinds that lists can have, by their resource such as `deployments.apps`. */
  readonly kinds: ReadonlyMap<string, Kind>;
  /** The API groups that the cluster serves. */
  readonly groups: ReadonlySet<string>;
}

/** `platform`: as in the option `platform.name` of the server, whose own kinds are in no list. */
export async function discover(client: Client, platform: string, signal: AbortSignal): Promise<Discovered> {
  const read = async (path: string): Promise<readonly DiscoveredGroup[]> => {
    const { items = [] }: Discovery = JSON.parse(
      await client.kubernetes.text(path, { accept: ACCEPT, signal }),
    );
    return items;
  };
  const groups = (await Promise.all(['/api', '/apis'].map(read))).flat();
  const own = [`resources.${platform}.io`, `iam.${platform}.io`];
  const kinds = new Map<string, Kind>();
  for (const kind of groups.flatMap(kindsOfGroup)) {
    // The first version of a group is the preferred one.
    if (!own.includes(kind.group) && !kinds.has(kind.resource)) kinds.set(kind.resource, kind);
  }
  return { kinds, groups: new Set(groups.map(({ metadata }) => metadata?.name ?? '')) };
}

function kindsOfGroup({ metadata, versions = [] }: DiscoveredGroup): Kind[] {
  const group = metadata?.name ?? '';
  return versions.flatMap(({ version, resources = [] }) =>
    resources
      .filter(({ verbs = [] }) => ['list', 'watch'].every((verb) => verbs.includes(verb)))
      .map(({ resource, responseKind, scope, shortNames = [] }) => ({
        ...{ kind: responseKind?.kind ?? resource, plural: resource, group, shortNames },
        resource: group === '' ? resource : `${resource}.${group}`,
        apiVersion: group === '' ? version : `${group}/${version}`,
        namespaced: scope === 'Namespaced',
        isCustom: group.includes('.') && !group.endsWith('.k8s.io'),
      })),
  );
}

/** The resource of a reference, such as an owner. Undefined if the kind is unknown. */
export function resourceOf(
  kinds: ReadonlyMap<string, Kind>,
  { apiVersion = 'v1', kind }: { readonly apiVersion?: string; readonly kind?: string },
): string | undefined {
  const group = apiVersion.includes('/') ? apiVersion.replace(/\/.*/, '') : '';
  for (const each of kinds.values()) if (each.kind === kind && each.group === group) return each.resource;
  return undefined;
}

/** Path of an object at kube-apiserver. Throws a TypeError for a name that is not one segment. */
export function pathOfKind(
  { apiVersion, plural }: Kind,
  place: { readonly namespace: string | undefined; readonly name: string },
): string {
  return objectPath({ apiVersion, resource: plural, ...place });
}

/** `deployments.apps` as `Deployments`: the word of the resource, with the capitals of the kind. */
export function titleOf(resource: string, kinds: ReadonlyMap<string, Kind>): string {
  const { kind, plural } = kinds.get(resource) ?? { kind: '', plural: resource };
  let same = 0;
  while (same < kind.length && kind[same]?.toLowerCase() === plural[same]) same++;
  return kind.slice(0, same) + plural.slice(same);
}
