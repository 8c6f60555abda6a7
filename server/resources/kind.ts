// Kind: a resource of the cluster that supports list and watch, as API discovery describes it.

export interface Kind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** For instance `pods`. */
  readonly plural: string;
  /** For instance `Pod`. */
  readonly kind: string;
  readonly namespaced: boolean;
  /** The definition of a custom resource; undefined for other kinds. */
  readonly custom?: CustomDefinition | undefined;
  /** The APIService of the group version. The catalog sets it. */
  readonly apiService?: APIService;
}

/** Where kube-apiserver gets the objects of a group version from. */
export interface APIService {
  /** False only if kube-apiserver serves the group version itself. */
  readonly aggregated: boolean;
  /** True if its kinds are custom resources, unless kube-apiserver says that the group version is its own. */
  readonly isCustom: boolean;
  /** Changes when objects of another source can be served. */
  readonly revision: string;
}

/** The parts of a CustomResourceDefinition that lists use, for the version of the kind. */
export interface CustomDefinition {
  /** Changes with every change of the definition that affects this record or the stored objects. */
  readonly revision: string;
  readonly listKind: string;
  readonly columns: readonly PrinterColumn[];
  /** JSON paths of selectable fields, such as `.spec.color`. */
  readonly selectableFields: readonly string[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly jsonPath: string;
  /** `integer`, `number`, `string`, `boolean` or `date`. */
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** 0 for columns that kubectl always prints. */
  readonly priority?: number;
}

/** The kinds of kube-apiserver whose objects or facts features of this server need. */
export const API_SERVICES: Kind = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  plural: 'apiservices',
  kind: 'APIService',
  namespaced: false,
};
export const CUSTOM_RESOURCE_DEFINITIONS: Kind = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
export const NAMESPACES: Kind = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};
export const NODES: Kind = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
export const PODS: Kind = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
export const ROLE_BINDINGS: Kind = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
};

/** Returns the exact name of a kind, `plural.group`, as CustomResourceDefinitions are named. */
export function exactName({ group, plural }: Pick<Kind, 'group' | 'plural'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** Returns the path of the list of all objects, for instance `/apis/apps/v1/deployments`. */
export function sourcePath({ group, version, plural }: Kind): string {
  return group === '' ? `/api/${version}/${plural}` : `/apis/${group}/${version}/${plural}`;
}

export function apiVersionOf({ group, version }: Kind): string {
  return group === '' ? version : `${group}/${version}`;
}
