// The definition of a served resource. Cache, verbs, tables and discovery are generic over it.
import type { CachedObject } from '../cache/resource-cache.ts';

export interface ResourceDefinition<Facts> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** The source of the objects, for instance `/api/v1/nodes`. */
  readonly source: { readonly path: string; readonly apiVersion: string; readonly kind: string };
  /**
   * Extracts the facts for columns, sorting and filters from a parsed object. Never throws: the object is not
   * validated.
   */
  facts(object: unknown): Facts;
  /** Field selectors beyond `metadata.name` and `metadata.namespace`. */
  readonly fields: Readonly<Record<string, (object: CachedObject<Facts>) => string>>;
  readonly columns: readonly Column<Facts>[];
}

/** A printer column, as in `meta.k8s.io/v1` TableColumnDefinition. */
export interface Column<Facts> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format: string;
  readonly description: string;
  /** 0: always shown; 1: with `-o wide`. */
  readonly priority: number;
  cell(object: CachedObject<Facts>, now: Date): string | number | boolean | null;
}
