// The members that every object of Kubernetes has.

/** An object of the cluster. Describe the members of a kind by a type of your own: `get<Pod>(…)`. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [member: string]: unknown;
}

/** Of the object as the server returns it. Further members exist. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  /** Opaque: compare it only for equality. */
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  /** Only of `client.lists`: the path of the object there, for GET. */
  readonly selfLink?: string;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

/** All objects of a list, each with its `kind` and `apiVersion`. */
export interface KubernetesList<T> {
  readonly resourceVersion: string;
  readonly items: readonly T[];
}
