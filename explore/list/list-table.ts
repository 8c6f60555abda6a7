// The table of a list: names, namespaces and the columns of the kind, sorted by the header.
import type { Column, Row, Rows } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useMemo } from 'preact/hooks';
import { type ListRoute, link, navigate, objectRoute, withQuery } from '../route.ts';
import { bytesText } from '../ui/amount.ts';
import { RelativeTime } from '../ui/relative-time.ts';
import { Status } from '../ui/status.ts';
import type { ShownQuery } from './list-query.ts';
import { ROW_HEIGHT, useVisibleRows } from './use-visible-rows.ts';

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
  /** In characters. */
  readonly width: number;
}

const NAME = { name: 'Name', description: '', sortKey: 'name' };
/** `aria-rowindex` of the first row: the header has 1. */
const FIRST_ROW = 2;

export function ListTable({ route, shown, list, label, isBusy }: ListTableProps): ComponentChildren {
  const { resource, query } = route;
  const { rows, total } = list;
  const { indexes, current, box, body } = useVisibleRows(rows.length, `${resource}?${query}`);
  const isWide = query.has('wide');
  // Not for each step of the scrolling.
  const columns = useMemo(() => columnsOf(list, isWide), [list, isWide]);
  const cols = columns.map(({ width }) => h('col', { style: { width: `${width}ch` } }));
  const headers = [NAME, ...columns].map((column) => h(Header, { ...column, route, shown }));
  // The names have the rest of the width.
  const minWidth = `calc(min(30ch, 50vw) + ${columns.reduce((sum, { width }) => sum + width, 0)}ch)`;
  const offset = (shown.page - 1) * shown.limit + FIRST_ROW;
  const lines = indexes.flatMap((index, i) => {
    const row = rows[index];
    if (!row) return [];
    const { uid, name } = row;
    const tabIndex = index === current ? 0 : -1;
    const anchor = h('a', { ...link(objectRoute(resource, row)), tabIndex, title: name }, name);
    return [
      gap(index - (indexes[i - 1] ?? -1) - 1, `gap before ${uid}`),
      h('tr', { key: uid, 'data-index': index, 'aria-rowindex': offset + index }, [
        h('td', {}, anchor),
        columns.map((column) => cellOf(row, column)),
      ]),
    ];
  });
  return h('div', { class: 'rows box scroll small', ...box, 'aria-busy': isBusy }, [
    h('table', { 'aria-label': label, 'aria-rowcount': total + 1, style: { minWidth } }, [
      h('colgroup', {}, [h('col', {}), cols]),
      h('thead', {}, h('tr', { 'aria-rowindex': 1 }, headers)),
      h('tbody', body, [...lines, gap(rows.length - (indexes.at(-1) ?? -1) - 1, 'last gap')]),
    ]),
  ]);
}

/** Space in place of rows that are not in the document. */
function gap(rows: number, key: string): ComponentChildren {
  const style = { height: `${rows * ROW_HEIGHT}px` };
  return rows > 0 && h('tr', { key, class: 'gap', 'aria-hidden': true }, h('td', { style }));
}

/** Without columns that have no value on the page, such as the status of ConfigMaps. */
function columnsOf({ columns, rows }: Rows, isWide: boolean): readonly ShownColumn[] {
  return columns
    .map((column, index) => {
      const isNumber = rows.some(({ cells }) => typeof cells[index] === 'number');
      return { ...column, index, isNumber, width: widthOf(column.name, index, rows) };
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
  const order = shown.ascending ? 'ascending' : 'descending';
  const attributes = { scope: 'col', title: description, class: isNumber && 'number' } as const;
  const content = sortKey === undefined ? text : h('button', { class: 'quiet sort', onClick }, text);
  return h('th', { ...attributes, 'aria-sort': isSorted ? order : undefined }, content);
}

const TIME = /^\d{4}-\d\d-\d\dT/;

function cellOf({ cells }: Row, { index, format, isNumber }: ShownColumn): ComponentChildren {
  const value = cells[index] ?? null;
  if (value === null) return h('td', { class: isNumber ? 'muted number' : 'muted' }, '–');
  if (format === 'status') return h('td', {}, h(Status, { status: String(value) }));
  if (typeof value === 'string' && TIME.test(value)) return h('td', {}, h(RelativeTime, { time: value }));
  const isBytes = format === 'bytes' && typeof value === 'number';
  const title = isBytes ? bytesText(value) : value.toLocaleString();
  return h('td', { class: isNumber && 'number', title }, title);
}

/** Widths of a column in characters, and the rows that are looked at. */
const [MIN_WIDTH, MAX_WIDTH, SAMPLE] = [7, 44, 200];

/** The width stays while the table scrolls, because it depends on the page and not on the visible rows. */
function widthOf(name: string, index: number, rows: readonly Row[]): number {
  const texts = rows.slice(0, SAMPLE).map(({ cells }) => String(cells[index] ?? ''));
  const lengths = texts.map((text) => (TIME.test(text) ? 0 : text.length));
  return 4 + Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, name.length + 2, ...lengths));
}
