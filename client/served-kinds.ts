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
        kinds.set(resource, {
          resource,
          plural,
          group,
          isCustom: group.includes('.') && !group.endsWith('.k8s.io'),
          verbs,
          shortNames,
          kind: responseKind?.kind ?? plural,
          apiVersion: group === '' ? version : `${group}/${version}`,
          namespaced: scope === 'Namespaced',
        });
      }
    }
  }
  return [...kinds.values()];
}
