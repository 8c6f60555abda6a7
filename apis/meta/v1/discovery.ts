// Types of Kubernetes discovery documents, such as APIGroupList and APIResourceList of `v1`.

interface GroupVersionForDiscovery {
  readonly groupVersion: string;
  readonly version: string;
}

export interface APIGroup {
  readonly kind?: 'APIGroup';
  readonly apiVersion?: 'v1';
  readonly name: string;
  readonly versions: readonly GroupVersionForDiscovery[];
  readonly preferredVersion: GroupVersionForDiscovery;
}

export interface APIGroupList {
  readonly kind: 'APIGroupList';
  readonly apiVersion: 'v1';
  readonly groups: readonly APIGroup[];
}

export interface APIResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
}

export interface APIResourceList {
  readonly kind: 'APIResourceList';
  readonly apiVersion: 'v1';
  readonly groupVersion: string;
  readonly resources: readonly APIResource[];
}

export interface APIGroupDiscoveryList {
  readonly kind: 'APIGroupDiscoveryList';
  readonly apiVersion: `apidiscovery.k8s.io/${DiscoveryVersion}`;
  readonly metadata: Record<string, never>;
  readonly items: readonly APIGroupDiscovery[];
}

export type DiscoveryVersion = 'v2' | 'v2beta1';

export interface APIGroupDiscovery {
  readonly metadata: { readonly name: string; readonly creationTimestamp: null };
  readonly versions: readonly APIVersionDiscovery[];
}

interface APIVersionDiscovery {
  readonly version: string;
  readonly resources: readonly APIResourceDiscovery[];
  readonly freshness: 'Current' | 'Stale';
}

export interface APIResourceDiscovery {
  readonly resource: string;
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly scope: 'Cluster' | 'Namespaced';
  readonly singularResource: string;
  readonly verbs: readonly string[];
}
