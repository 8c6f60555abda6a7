// Parts of `meta.k8s.io/v1` Table, which kubectl requests for printing.

/** Metadata of a list. */
export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  /** For pages of lists without selectors only. */
  readonly remainingItemCount?: number;
}

export interface TableColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0: always shown; 1: with `-o wide`. */
  readonly priority: number;
}

/** The object in a row. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';
