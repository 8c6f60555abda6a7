// Types of the `meta.k8s.io/v1` Table, which kubectl prints.

/** Metadata of a list. */
export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  /** Number of objects after this page. Only a list without selectors has it. */
  readonly remainingItemCount?: number;
}

export interface TableColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0: kubectl always shows the column. 1: only with `-o wide`. */
  readonly priority: number;
}

/** The part of the object that a row contains. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';
