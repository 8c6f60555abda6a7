// The rows of a page for a table: the columns of the server, and those of well-known kinds. The objects themselves are
// dropped, so that a page of 10,000 objects needs little memory.
import { type Cell, type Column, ownColumns } from './kind-columns.ts';
import type { ListPage, ListQuery } from './lists.ts';

export interface Row {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly cells: readonly Cell[];
}

export interface Rows {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** Number of the objects of all pages. */
  readonly total: number;
  /** The caller may list the kind only in some namespaces. */
  readonly isPartial: boolean;
  readonly facets: NonNullable<ListPage['facets']>;
  /** Of the objects of the page, for facets. */
  readonly labelKeys: readonly string[];
}

const NAMESPACE: Column = {
  name: 'Namespace',
  type: 'string',
  format: '',
  description: '',
  priority: 0,
  sortKey: 'namespace',
};
/** Maximum number of label keys. */
const MAX_LABEL_KEYS = 100;

/** What a query needs for the rows of a kind. The whole objects are needed only for columns that the server does not compute. */
export function rowsQuery(resource: string): Pick<ListQuery, 'columns' | 'includeObject'> {
  return { columns: true, includeObject: ownColumns(resource).length > 0 ? 'Object' : 'Metadata' };
}

/** The rows of a page that was requested with `rowsQuery`. The name is in no cell. */
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
    rows,
    total: totalItems,
    isPartial: partial,
    facets,
    labelKeys: [...labelKeys].sort(),
    columns: withOwn(columns, NAMESPACE, own),
  };
}

/** The namespace follows the status, which is the first column of the server. The age is the last one. */
function withOwn<T>(served: readonly T[], namespace: T, own: readonly T[]): readonly T[] {
  return [...served.slice(0, 1), namespace, ...served.slice(1, -1), ...own, ...served.slice(-1)];
}

/** The status word of an object of a page that was requested with `columns: true`; undefined if it has none. */
export function statusOf({ columns, cells }: ListPage, index: number): string | undefined {
  const status = cells?.[index]?.[columns?.findIndex(({ format }) => format === 'status') ?? -1];
  return typeof status === 'string' ? status : undefined;
}
