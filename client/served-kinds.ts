// The kinds that the cluster serves, from the aggregated discovery of kube-apiserver.

/** A kind of objects, in the preferred version of its API group. */
export interface ServedKind {
  /** As in lists, for example `pods` or `deployments.apps`. */
  readonly resource: string;
  /** For example `Deployment`. */
  readonly kind: string;
  /** For example `v1` or `apps/v1`. */
  readonly apiVersion: string;
  /** For example `deployments`. */
  readonly plural: string;
  /** The plural with the capitals of the kind, for example `NetworkPolicies`. */
  readonly title: string;
  /** Empty for the core group. */
  readonly group: string;
  /** Whether the kind is not one of Kubernetes itself. */
  readonly isCustom: boolean;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
}

/** The kind of a reference, such as an owner. Undefined if the cluster does not serve it. */
export function kindOfReference<K extends ServedKind>(
  kinds: Iterable<K>,
  { apiVersion = 'v1', kind }: { readonly apiVersion?: string; readonly kind?: string },
): K | undefined {
  const group = apiVersion.includes('/') ? apiVersion.replace(/\/.*/, '') : '';
  return [...kinds].find((each) => each.kind === kind && each.group === group);
}

export const ACCEPT_DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** The members of APIGroupDiscoveryList (apidiscovery.k8s.io/v2) that are used. */
export interface GroupDiscoveryList {
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

export function servedKinds({ items = [] }: GroupDiscoveryList): ServedKind[] {
  const kinds = new Map<string, ServedKind>();
  for (const { metadata, versions = [] } of items) {
    const group = metadata?.name ?? '';
    for (const { version, resources = [] } of versions) {
      for (const { resource: plural, responseKind, scope, verbs = [], shortNames = [] } of resources) {
        const resource = group === '' ? plural : `${plural}.${group}`;
        // The first version is the preferred one.
        if (kinds.has(resource)) continue;
        const kind = responseKind?.kind ?? plural;
        kinds.set(resource, {
          resource,
          plural,
          group,
          isCustom: group.includes('.') && !group.endsWith('.k8s.io'),
          verbs,
          shortNames,
          kind,
          title: titleOf(kind, plural),
          apiVersion: group === '' ? version : `${group}/${version}`,
          namespaced: scope === 'Namespaced',
        });
      }
    }
  }
  return [...kinds.values()];
}

function titleOf(kind: string, plural: string): string {
  let same = 0;
  while (same < kind.length && kind[same]?.toLowerCase() === plural[same]) same++;
  return kind.slice(0, same) + plural.slice(same);
}

/** The kinds of Kubernetes that people look at most. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Workloads: [
    'pods',
    'deployments.apps',
    'statefulsets.apps',
    'daemonsets.apps',
    'jobs.batch',
    'cronjobs.batch',
  ],
  Network: [
    'services',
    'ingresses.networking.k8s.io',
    'networkpolicies.networking.k8s.io',
    'endpointslices.discovery.k8s.io',
  ],
  Configuration: ['configmaps', 'secrets', 'serviceaccounts', 'resourcequotas', 'limitranges'],
  Storage: ['persistentvolumeclaims', 'persistentvolumes', 'storageclasses.storage.k8s.io'],
  Cluster: ['nodes', 'namespaces', 'events'],
};

/** A part of a menu. */
export interface KindGroup<K extends ServedKind = ServedKind> {
  /** For example `Workloads`, `Custom resources` or `More`. */
  readonly title: string;
  readonly kinds: readonly K[];
}

/** Kinds in groups for a menu: those that people look at most, then custom resources, then all others. */
export function kindGroups<K extends ServedKind>(kinds: Iterable<K>): readonly KindGroup<K>[] {
  const others = new Map([...kinds].map((kind) => [kind.resource, kind]));
  const named = Object.entries(GROUPS).map(([title, resources]) => {
    const group = resources.flatMap((resource) => others.get(resource) ?? []);
    for (const { resource } of group) others.delete(resource);
    return { title, kinds: group };
  });
  const rest = [...others.values()];
  const groups = [
    ...named,
    { title: 'Custom resources', kinds: rest.filter(({ isCustom }) => isCustom) },
    { title: 'More', kinds: rest.filter(({ isCustom }) => !isCustom) },
  ];
  return groups.filter((group) => group.kinds.length > 0);
}

/** The kinds with this short name first, such as `sts`; then those whose plural contains the text, the shortest first. */
export function kindsNamed<K extends ServedKind>(kinds: Iterable<K>, text: string): readonly K[] {
  const word = text.toLowerCase();
  const rankOf = ({ plural, shortNames }: K): number => (shortNames.includes(word) ? 0 : plural.length);
  return [...kinds]
    .filter(({ plural, shortNames }) => plural.includes(word) || shortNames.includes(word))
    .sort((a, b) => rankOf(a) - rankOf(b));
}
