/** `meta.k8s.io/v1` Table: what kubectl asks for to print. */
export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: 'meta.k8s.io/v1' | 'meta.k8s.io/v1beta1';
  readonly metadata: ListMeta;
  /** Null in a watch after its first event. */
  readonly columnDefinitions: readonly TableColumnDefinition[] | null;
  readonly rows: readonly TableRow[];
}

export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  /** Only for pages of lists without selectors. */
  readonly remainingItemCount?: number;
}

export interface TableColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
}

export interface TableRow {
  readonly cells: readonly (string | number | boolean | null)[];
  /** What `includeObject` asked for. */
  readonly object: unknown;
}

export type IncludeObject = 'None' | 'Metadata' | 'Object';
