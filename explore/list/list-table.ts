// The table of a list: names, namespaces and the columns of the kind, sorted by the header.
import { type ComponentChildren, h } from 'preact';
import { type ListRoute, link, navigate, withQuery } from '../route.ts';
import { RelativeTime } from '../ui/relative-time.ts';
import { Status } from '../ui/status.ts';
import { VirtualRows } from '../ui/virtual-rows.ts';
import type { Cell, Column } from './kind-columns.ts';
import { type ShownQuery, sortedBy } from './list-query.ts';
import type { Row, Rows } from './list-rows.ts';

export interface ListTableProps {
  readonly route: ListRoute;
  readonly shown: ShownQuery;
  readonly list: Rows;
  readonly label: string;
  /** Changes with the query. */
  readonly page: string;
  readonly isBusy: boolean;
}

interface ShownColumn extends Column {
  readonly cell: (row: Row) => Cell;
}

const NAME: ShownColumn = {
  ...{ name: 'Name', type: 'string', format: 'name', description: '', priority: 0, sortKey: 'name' },
  cell: ({ name }) => name,
};
const NAMESPACE: ShownColumn = {
  ...{ name: 'Namespace', type: 'string', format: '', description: '', priority: 0, sortKey: 'namespace' },
  cell: ({ namespace = null }) => namespace,
};

export function ListTable({ route, shown, list, label, page, isBusy }: ListTableProps): ComponentChildren {
  const { rows, total, flashes } = list;
  const columns = columnsOf(list, shown.isWide);
  const widths = columns.map((column) => widthOf(column, rows));
  // The names have the rest of the width.
  const cols = widths.map((width, i) => h('col', { style: i === 0 ? {} : { width: `${width}ch` } }));
  const heads = columns.map((column) => h(Header, { column, route, shown }));
  return h(VirtualRows, {
    ...{ label, count: rows.length, offset: (shown.page - 1) * shown.limit, total, page, isBusy },
    columns: columns.length,
    width: widths.reduce((sum, width) => sum + width, 0),
    head: [h('colgroup', {}, cols), h('thead', {}, h('tr', { 'aria-rowindex': 1 }, heads))],
    row: (index, tabIndex) => {
      const row = rows[index];
      if (!row) return { key: String(index), flash: undefined, cells: [] };
      const cells = columns.map((column) =>
        h('td', { class: classOf(row, column) }, content(row, column, route, tabIndex)),
      );
      return { key: row.uid, flash: flashes.get(row.uid), cells };
    },
  });
}

/** Without a column of which no row of the page has a value, such as the status of ConfigMaps. */
function columnsOf({ columns, rows }: Rows, isWide: boolean): readonly ShownColumn[] {
  const own = columns
    .map((column, i): ShownColumn => ({ ...column, cell: ({ cells }) => cells[i] ?? null }))
    .filter(({ priority, format, cell }) =>
      format === 'status' ? rows.some((row) => cell(row) !== null) : isWide || priority === 0,
    );
  const hasNamespaces = rows.some(({ namespace }) => namespace !== undefined);
  return [NAME, ...(hasNamespaces ? [NAMESPACE] : []), ...own];
}

interface HeaderProps {
  readonly column: ShownColumn;
  readonly route: ListRoute;
  readonly shown: ShownQuery;
}

function Header({ column, route, shown }: HeaderProps): ComponentChildren {
  const { name, description, sortKey } = column;
  const isSorted = sortKey !== undefined && sortKey === shown.sortBy;
  const direction = shown.isAscending ? 'ascending' : 'descending';
  const sort = (): void => navigate(withQuery(route, sortedBy(shown, sortKey ?? '', isNumber(column))));
  const text = h('bdi', {}, name);
  return h(
    'th',
    {
      scope: 'col',
      title: description,
      class: isNumber(column) ? 'number' : '',
      ...(isSorted && { 'aria-sort': direction }),
    },
    sortKey === undefined ? text : h('button', { type: 'button', class: 'sort', onClick: sort }, text),
  );
}

function isNumber({ type }: Column): boolean {
  return type === 'integer' || type === 'number';
}

function classOf(row: Row, column: ShownColumn): string {
  if (column === NAME) return 'name';
  if (column.cell(row) === null) return 'none';
  return column.format === 'status' ? 'word' : isNumber(column) ? 'number' : '';
}

function content(
  row: Row,
  column: ShownColumn,
  { resource }: ListRoute,
  tabIndex: 0 | -1,
): ComponentChildren {
  const value = column.cell(row);
  if (column === NAME) {
    const { name, namespace } = row;
    const route = { view: 'object', resource, namespace, name, query: new URLSearchParams() } as const;
    return h('a', { ...link(route), tabIndex, title: name }, name);
  }
  if (value === null) return h('span', { class: 'muted' }, '–');
  if (column.format === 'status') return h(Status, { status: String(value) });
  if (column.type === 'date' && typeof value === 'string' && !value.startsWith('<'))
    return h(RelativeTime, { time: value });
  const text = textOf(value, column);
  return h('span', { title: text }, text);
}

function textOf(value: string | number | boolean, { format }: Column): string {
  if (typeof value !== 'number') return String(value);
  return format === 'bytes' ? `${(value / 2 ** 30).toFixed(1)} GiB` : value.toLocaleString();
}

/** Widths of a column in characters, and the rows that are looked at. */
const [MIN_WIDTH, MAX_WIDTH, SAMPLE] = [7, 44, 200];

/** The width stays while the table scrolls, because it depends on the page and not on the visible rows. */
function widthOf({ name, cell }: ShownColumn, rows: readonly Row[]): number {
  const lengths = rows.slice(0, SAMPLE).map((row) => {
    const value = cell(row);
    return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? 0 : String(value ?? '').length;
  });
  return 4 + Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, name.length + 2, ...lengths));
}
