// Builds CustomResourceDefinitions for tests.

export interface Definition {
  /** `example.com` by default. */
  readonly group?: string;
  readonly plural: string;
  readonly kind: string;
  /** The kind with `List` by default. */
  readonly listKind?: string;
  readonly scope?: 'Namespaced' | 'Cluster';
  /** One version `v1` by default. */
  readonly versions?: readonly object[];
  readonly conversion?: object;
}

/** A version of a definition with any fields. */
export function version(name: string, more: object = {}): object {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { color: { type: 'string' }, size: { type: 'integer' } } },
      },
    },
  };
  return { name, served: true, storage: name === 'v1', schema, ...more };
}

export function definitionOf({
  group = 'example.com',
  plural,
  kind,
  listKind = `${kind}List`,
  scope = 'Cluster',
  versions = [version('v1')],
  conversion,
}: Definition): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      versions,
      names: { plural, kind, listKind, singular: kind.toLowerCase() },
      ...(conversion ? { conversion } : {}),
    },
  };
}
