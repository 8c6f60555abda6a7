// The rows of a page: the columns of the server and those of well-known kinds. The objects themselves are dropped, so that a page
// of 10,000 objects needs little memory.
import type { ListPage } from 'ks-apiserver-client';
import { type Cell, type Column, ownColumns } from './kind-columns.ts';

export interface Row {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly cells: readonly Cell[];
}

export interface Rows {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly total: number;
  readonly isPartial: boolean;
  readonly facets: NonNullable<ListPage['facets']>;
  /** The label keys of the objects. */
  readonly labelKeys: readonly string[];
}

const PLAIN = { type: 'string', format: '', description: '', priority: 0 };
export const NAME: Column = { ...PLAIN, name: 'Name', sortKey: 'name' };
const NAMESPACE: Column = { ...PLAIN, name: 'Namespace', sortKey: 'namespace' };
/** Label keys that are offered for a facet. */
const MAX_LABEL_KEYS = 100;

export function rowsOf(resource: string, page: ListPage): Rows {
  const { items, columns = [], cells = [], totalItems, partial = false, facets = {} } = page;
  const own = ownColumns(resource);
  const labelKeys = new Set<string>();
  const rows = items.map((object, index): Row => {
    const { uid, name, namespace, labels = {} } = object.metadata;
    if (labelKeys.size < MAX_LABEL_KEYS) for (const key of Object.keys(labels)) labelKeys.add(key);
    const values = own.map(({ read }) => read(object));
    return { uid, name, namespace, cells: withOwn(cells[index] ?? [], namespace ?? null, values) };
  });
  return {
    ...{ rows, total: totalItems, isPartial: partial, facets, labelKeys: [...labelKeys].sort() },
    columns: withOwn(columns, NAMESPACE, own),
  };
}

/** The namespace follows the status, which is the first column of the server. The age is the last one. */
function withOwn<T>(served: readonly T[], namespace: T, own: readonly T[]): readonly T[] {
  return [...served.slice(0, 1), namespace, ...served.slice(1, -1), ...own, ...served.slice(-1)];
}
