// ResourceDefinition: the names, table columns and extracted values of a resource. The cache and the REST handlers work
// with any ResourceDefinition.
import type { CachedObject, ObjectIdentity } from '../cache/resource-cache.ts';

export interface ResourceDefinition<Facts> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** The resource of kube-apiserver that the objects come from. `path`: for instance `/api/v1/nodes`. */
  readonly source: { readonly path: string; readonly apiVersion: string; readonly kind: string };
  /** True if kube-apiserver omits `kind` and `apiVersion` in the items of a list, as for its built-in kinds. */
  readonly bareItems?: boolean;
  /** True if kube-apiserver always sends `metadata.continue` in a list, as for custom resources. */
  readonly emptyContinue?: boolean;
  /**
   * Extracts the facts for columns, sorting and filters from a parsed object. It must not throw, although the object
   * is not validated.
   */
  facts(object: unknown): Facts;
  /** Fields of field selectors, in addition to `metadata.name` and `metadata.namespace`. */
  readonly fields: Readonly<Record<string, (object: ObjectIdentity<Facts>) => string>>;
  readonly columns: readonly Column<Facts>[];
}

/** A printer column, as in `meta.k8s.io/v1` TableColumnDefinition. */
export interface Column<Facts> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format: string;
  readonly description: string;
  /** 0: kubectl always shows the column. 1: only with `-o wide`. */
  readonly priority: number;
  cell(object: CachedObject<Facts>, now: Date): string | number | boolean | null;
}
