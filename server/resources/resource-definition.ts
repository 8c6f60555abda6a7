// ResourceDefinition: the names, table columns and extracted values of a resource. The cache and the REST handlers work
// with any ResourceDefinition.
import type { TableColumnDefinition } from '../../apis/meta/v1/table.ts';
import type { ObjectIdentity } from '../cache/resource-cache.ts';

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
  /**
   * Returns false if kube-apiserver can have other fields or cells for the object. By default, those of all objects are
   * exact.
   */
  readonly isExact?: (object: ObjectIdentity<Facts>) => boolean;
  /** Returns the conditions of the row of an object in a Table; undefined for none. */
  readonly conditions?: ((object: ObjectIdentity<Facts>) => readonly RowCondition[] | undefined) | undefined;
}

/** A condition of a row, as in `meta.k8s.io/v1` TableRowCondition. */
export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** A printer column, as in `meta.k8s.io/v1` TableColumnDefinition. */
export interface Column<Facts> extends TableColumnDefinition {
  cell(object: Pick<ObjectIdentity<Facts>, 'name' | 'facts'>, now: Date): string | number | boolean | null;
}
