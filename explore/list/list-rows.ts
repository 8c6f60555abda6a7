// The rows of a page: the columns of the server and those of well-known kinds. The objects themselves are dropped, so that a page
// of 10,000 objects needs little memory.
import type { ListPage } from 'ks-apiserver-client';
import { type Cell, type Column, ownColumns } from './kind-columns.ts';

export interface Row {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly version: string;
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
  /** The rows that are not in the page before in this version, by uid; the value changes with each page. */
  readonly flashes: ReadonlyMap<string, string>;
}

/** Label keys that are offered for a facet. */
const MAX_LABEL_KEYS = 100;

/** `before`: the page before of the same query. */
export function rowsOf(resource: string, page: ListPage, before: Rows | undefined): Rows {
  const { items, columns: served = [], cells: servedCells = [], totalItems, partial, facets = {} } = page;
  const own = ownColumns(resource);
  // The age is the last one.
  const place = Math.max(0, served.length - 1);
  const labelKeys = new Set<string>();
  const rows = items.map((object, index): Row => {
    const { uid, name, namespace, resourceVersion: version, labels = {} } = object.metadata;
    if (labelKeys.size < MAX_LABEL_KEYS) for (const key of Object.keys(labels)) labelKeys.add(key);
    const cells = servedCells[index] ?? [];
    return {
      uid,
      name,
      namespace,
      version,
      cells: cells.toSpliced(place, 0, ...own.map(({ read }) => read(object))),
    };
  });
  return {
    ...{ rows, total: totalItems, isPartial: partial === true, facets, labelKeys: [...labelKeys].sort() },
    columns: served.toSpliced(place, 0, ...own),
    flashes: before ? changed(rows, before) : new Map(),
  };
}

/** The value alternates, so that the animation of a row that changes twice starts again. */
function changed(rows: readonly Row[], { rows: old, flashes }: Rows): ReadonlyMap<string, string> {
  const versions = new Map(old.map(({ uid, version }) => [uid, version]));
  return new Map(
    rows
      .filter(({ uid, version }) => versions.get(uid) !== version)
      .map(({ uid }) => [uid, flashes.get(uid) === 'a' ? 'b' : 'a']),
  );
}
