// What is particular to one served resource; everything else (cache, verbs, tables, discovery) is generic over it.
import type { CachedObject } from '../cache/cached-object.ts';

export interface ResourceDefinition<Facts> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** Where the objects come from, for instance `/api/v1/nodes`. */
  readonly source: { readonly path: string; readonly apiVersion: string; readonly kind: string };
  /** The few facts of a parsed object that columns, sorting and filters need. Never throws: reads defensively. */
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
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
  cell(object: CachedObject<Facts>, now: Date): string | number | boolean | null;
}
