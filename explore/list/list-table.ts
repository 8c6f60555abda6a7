// The table of a list: names, namespaces and the columns of the kind, sorted by the header.
import { type ComponentChildren, h } from 'preact';
import { bytesText } from '../quantity.ts';
import { type ListRoute, link, navigate, objectRoute, withQuery } from '../route.ts';
import { RelativeTime } from '../ui/relative-time.ts';
import { Status } from '../ui/status.ts';
import type { Column } from './kind-columns.ts';
import type { ShownQuery } from './list-query.ts';
import { NAME, type Row, type Rows } from './list-rows.ts';
import { VirtualRows } from './virtual-rows.ts';

export interface ListTableProps {
  readonly route: ListRoute;
  readonly shown: ShownQuery;
  readonly list: Rows;
  readonly label: string;
  readonly isBusy: boolean;
}

interface ShownColumn extends Column {
  /** In the cells of a row. */
  readonly index: number;
  readonly isNumber: boolean;
}

export function ListTable({ route, shown, list, label, isBusy }: ListTableProps): ComponentChildren {
  const { resource, query } = route;
  const { rows, total } = list;
  const columns = columnsOf(list, query.has('wide'));
  const widths = columns.map((column) => widthOf(column, rows));
  const cols = widths.map((width) => h('col', { style: { width: `${width}ch` } }));
  const headers = columns.map((column) => h(Header, { ...column, route, shown }));
  return h(VirtualRows, {
    ...{ label, count: rows.length, offset: (shown.page - 1) * shown.limit, total, isBusy },
    page: `${resource}?${query}`,
    // The names have the rest of the width.
    minWidth: `calc(min(30ch, 50vw) + ${widths.reduce((sum, width) => sum + width, 0)}ch)`,
    head: [
      h('colgroup', {}, [h('col', {}), cols]),
      h('thead', {}, h('tr', { 'aria-rowindex': 1 }, [h(Header, { ...NAME, route, shown }), headers])),
    ],
    row: (index, tabIndex) => {
      const row = rows[index];
      if (!row) return { key: String(index), cells: [] };
      const name = h('a', { ...link(objectRoute(resource, row)), tabIndex, title: row.name }, row.name);
      return { key: row.uid, cells: [h('td', {}, name), columns.map((column) => cellOf(row, column))] };
    },
  });
}

/** Without columns that have no value on the page, such as the status of ConfigMaps. */
function columnsOf({ columns, rows }: Rows, isWide: boolean): readonly ShownColumn[] {
  return columns
    .map((column, index) => {
      const isNumber = rows.some(({ cells }) => typeof cells[index] === 'number');
      return { ...column, index, isNumber };
    })
    .filter(({ priority }) => isWide || priority === 0)
    .filter(({ index }) => rows.some(({ cells }) => cells[index] !== null));
}

interface HeaderProps extends Pick<Column, 'name' | 'description' | 'sortKey'> {
  readonly isNumber?: boolean;
  readonly route: ListRoute;
  readonly shown: ShownQuery;
}

function Header({ name, description, sortKey, isNumber, route, shown }: HeaderProps): ComponentChildren {
  const isSorted = sortKey !== undefined && sortKey === shown.sortBy;
  const ascending = String(isSorted ? !shown.ascending : !isNumber);
  const onClick = (): void => navigate(withQuery(route, { sortBy: sortKey, ascending, page: undefined }));
  const text = h('bdi', {}, name);
  return h(
    'th',
    {
      ...{ scope: 'col', title: description, class: isNumber && 'number' },
      'aria-sort': isSorted ? (shown.ascending ? 'ascending' : 'descending') : undefined,
    },
    sortKey === undefined ? text : h('button', { type: 'button', class: 'sort', onClick }, text),
  );
}

const TIME = /^\d{4}-\d\d-\d\dT/;

function cellOf({ cells }: Row, { index, format, isNumber }: ShownColumn): ComponentChildren {
  const value = cells[index] ?? null;
  if (value === null) return h('td', { class: 'muted' }, '–');
  if (format === 'status') return h('td', {}, h(Status, { status: String(value) }));
  if (typeof value === 'string' && TIME.test(value)) return h('td', {}, h(RelativeTime, { time: value }));
  const isBytes = format === 'bytes' && typeof value === 'number';
  const title = isBytes ? bytesText(value) : value.toLocaleString();
  return h('td', { class: isNumber && 'number', title }, title);
}

/** Widths of a column in characters, and the rows that are looked at. */
const [MIN_WIDTH, MAX_WIDTH, SAMPLE] = [7, 44, 200];

/** The width stays while the table scrolls, because it depends on the page and not on the visible rows. */
function widthOf({ name, index }: ShownColumn, rows: readonly Row[]): number {
  const texts = rows.slice(0, SAMPLE).map(({ cells }) => String(cells[index] ?? ''));
  const lengths = texts.map((text) => (TIME.test(text) ? 0 : text.length));
  return 4 + Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, name.length + 2, ...lengths));
}
