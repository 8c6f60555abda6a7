// Builds the discovery documents of the API groups of this server. Discovery must not depend on kube-apiserver or a
// cache.
import type {
  APIGroup,
  APIGroupDiscovery,
  APIGroupDiscoveryList,
  APIGroupList,
  APIResource,
  APIResourceDiscovery,
  APIResourceList,
  DiscoveryVersion,
} from '../../../apis/meta/v1/discovery.ts';

/** The properties of a resource in discovery. ResourceDefinition implements them. */
export interface DiscoveredResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}

/** Returns the versions of a group in the order of the definitions. The first one is the preferred version. */
function versionsOf(resources: readonly DiscoveredResource[], group: string): string[] {
  return distinct(resources.filter((one) => one.group === group).map((one) => one.version));
}

/** An API without discovery blocks the deletion of namespaces. */
export function groupsOf(resources: readonly DiscoveredResource[]): string[] {
  return distinct(resources.map((one) => one.group));
}

function bareGroup(resources: readonly DiscoveredResource[], group: string): APIGroup {
  const versions = versionsOf(resources, group).map((version) => ({
    groupVersion: `${group}/${version}`,
    version,
  }));
  const [preferredVersion = { groupVersion: '', version: '' }] = versions;
  return { name: group, versions, preferredVersion };
}

export function groupDocument(resources: readonly DiscoveredResource[], group: string): APIGroup {
  return { kind: 'APIGroup', apiVersion: 'v1', ...bareGroup(resources, group) };
}

export function groupListDocument(resources: readonly DiscoveredResource[]): APIGroupList {
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groupsOf(resources).map((group) => bareGroup(resources, group)),
  };
}

function legacyResource(one: DiscoveredResource): APIResource {
  const { plural, singular, namespaced, kind, verbs } = one;
  return { name: plural, singularName: singular, namespaced, kind, verbs };
}

export function resourceListDocument(
  resources: readonly DiscoveredResource[],
  group: string,
  version: string,
): APIResourceList {
  const own = resources.filter((one) => one.group === group && one.version === version);
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: `${group}/${version}`,
    resources: own.map(legacyResource),
  };
}

function aggregatedResource(one: DiscoveredResource): APIResourceDiscovery {
  const { group, version, kind, plural, singular, namespaced, verbs } = one;
  return {
    resource: plural,
    responseKind: { group, version, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
  };
}

function aggregatedGroup(resources: readonly DiscoveredResource[], group: string): APIGroupDiscovery {
  const own = resources.filter((one) => one.group === group);
  const versions = versionsOf(resources, group).map((version) => ({
    version,
    resources: own.filter((one) => one.version === version).map(aggregatedResource),
    freshness: 'Current' as const,
  }));
  return { metadata: { name: group, creationTimestamp: null }, versions };
}

export function aggregatedDocument(
  resources: readonly DiscoveredResource[],
  version: DiscoveryVersion,
): APIGroupDiscoveryList {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groupsOf(resources).map((group) => aggregatedGroup(resources, group)),
  };
}
