// Parts of a Table of `meta.k8s.io/v1`, which is what kubectl asks for to print.

/** Of lists of every form. */
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

/** What a row holds of its object. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';
