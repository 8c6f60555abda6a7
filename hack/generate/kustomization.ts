// Creates Kustomization and Component objects.

/** Returns a Kustomization object with the given fields, in the given order. */
export function kustomization(members: Record<string, unknown>): object {
  return { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', ...members };
}

export function component(members: Record<string, unknown>): object {
  return { apiVersion: 'kustomize.config.k8s.io/v1alpha1', kind: 'Component', ...members };
}
