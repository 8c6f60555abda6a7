// The table of a list: names, namespaces and the columns of the kind, sorted by the header.
import { bytesText, type Column, type Row } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Explore, useExplore } from '../context.ts';
import { objectURL } from '../route.ts';
import { RelativeTime, statusWord } from '../ui/values.ts';
import { isTime, type ShownColumn } from './list-columns.ts';
import type { ShownQuery } from './list-query.ts';
import type { ListRows, LiveList } from './use-list.ts';
import { ROW_HEIGHT, useVisibleRows } from './use-visible-rows.ts';

export interface ListTableProps extends Pick<LiveList, 'show'> {
  readonly shown: ShownQuery;
  readonly list: ListRows;
  readonly label: string;
  readonly isBusy: boolean;
}

/** What the header of a column needs. */
type Heading = Pick<Column, 'name' | 'description' | 'sortKey'> & { readonly isNumber?: boolean };

const NAME: Heading = { name: 'Name', description: '', sortKey: 'name' };
/** Wider columns share what is left in the box, and have at least this width. In characters. */
const LONG = 20;
const NAMES = 'min(24ch, 55vw)';
/** `aria-rowindex` of the first row: the header has 1. */
const FIRST_ROW = 2;

export function ListTable({ shown, list, label, isBusy, show }: ListTableProps): ComponentChildren {
  const { route, change } = useExplore();
  const [resource = ''] = route.names;
  const { name: listName, start, limit, total } = list;
  const count = Math.max(0, Math.min(limit, total - start));
  const { first, last, current, box, body } = useVisibleRows(count, listName);
  useEffect(() => show(first, last), [listName, first, last]);
  const rowAt = useLoadedRows(list, current);
  const isWide = route.query.has('wide');
  const columns = list.columns.filter(({ priority, width }) => width > 0 && (isWide || priority === 0));
  const long = columns.filter(({ width }) => width > LONG).length;
  const least = columns.reduce((sum, { width }) => sum + Math.min(width, LONG), 0);
  const share = `(100cqi - ${NAMES} - ${least - long * LONG}ch) / ${long || 1}`;
  const cols = columns.map(({ width }) => {
    return h('col', { style: { width: `clamp(${Math.min(width, LONG)}ch, ${share}, ${width}ch)` } });
  });
  const headers = [NAME, ...columns].map((column) => headerCell(column, shown, change));
  // The names have the rest of the width.
  const minWidth = `calc(${NAMES} + ${least}ch)`;
  const indexes = Array.from({ length: last - first }, (_, i) => first + i);
  if (current >= 0 && current < first) indexes.unshift(current);
  if (current >= last) indexes.push(current);
  const lines = indexes.flatMap((index, i) => {
    const row = rowAt(index);
    const key = row?.uid ?? `row ${index}`;
    const tabIndex = index === current ? 0 : -1;
    const placeholder = h('span', { tabIndex }, 'Loading …');
    return [
      gap(index - (indexes[i - 1] ?? -1) - 1, `gap before ${key}`),
      h('tr', { key, 'data-index': index, 'aria-rowindex': start + FIRST_ROW + index }, [
        row
          ? h('td', {}, h('a', { href: objectURL(resource, row), tabIndex, title: row.name }, row.name))
          : h('td', { class: 'muted', colSpan: columns.length + 1 }, placeholder),
        row && columns.map((column) => cellOf(row, column)),
      ]),
    ];
  });
  return h('div', { class: 'rows box scroll small', ...box, 'aria-busy': isBusy }, [
    h('table', { 'aria-label': label, 'aria-rowcount': total + 1, style: { minWidth } }, [
      h('colgroup', {}, [h('col', {}), cols]),
      h('thead', {}, h('tr', { 'aria-rowindex': 1 }, headers)),
      h('tbody', body, [...lines, gap(count - (indexes.at(-1) ?? -1) - 1, 'last gap')]),
    ]),
  ]);
}

/** Returns a function for the rows of the page. The current row stays when the user scrolls away from it. */
function useLoadedRows({ name, rows, first }: ListRows, current: number): (index: number) => Row | undefined {
  const kept = useRef<{ readonly name: string; readonly index: number; readonly row: Row }>(undefined);
  const row = rows[current - first];
  if (row) kept.current = { name, index: current, row };
  return (index) => {
    const loaded = rows[index - first];
    const last = kept.current;
    if (loaded || last?.name !== name || last.index !== index) return loaded;
    // An object is not shown twice.
    return rows.some(({ uid }) => uid === last.row.uid) ? undefined : last.row;
  };
}

/** Space in place of rows that are not in the document. */
function gap(rows: number, key: string): ComponentChildren {
  const style = { height: `${rows * ROW_HEIGHT}px` };
  return rows > 0 && h('tr', { key, class: 'gap', 'aria-hidden': true }, h('td', { style }));
}

function headerCell(
  { name, description, sortKey, isNumber }: Heading,
  { sortBy, ascending }: ShownQuery,
  change: Explore['change'],
): ComponentChildren {
  const isSorted = sortKey !== undefined && sortKey === sortBy;
  const next = String(isSorted ? !ascending : !isNumber);
  const onClick = (): void => change({ sortBy: sortKey, ascending: next, page: undefined });
  const text = h('bdi', {}, name);
  const order = ascending ? 'ascending' : 'descending';
  const attributes = { scope: 'col', title: description, class: isNumber && 'number' } as const;
  const content = sortKey === undefined ? text : h('button', { class: 'quiet sort', onClick }, text);
  return h('th', { ...attributes, 'aria-sort': isSorted ? order : undefined }, content);
}

function cellOf({ cells }: Row, { index, format, isNumber }: ShownColumn): ComponentChildren {
  const value = cells[index] ?? null;
  if (value === null) return h('td', { class: isNumber ? 'muted number' : 'muted' }, '–');
  if (format === 'status') return h('td', {}, statusWord(String(value)));
  if (isTime(value)) return h('td', {}, h(RelativeTime, { time: value }));
  const isBytes = format === 'bytes' && typeof value === 'number';
  const title = isBytes ? bytesText(value) : value.toLocaleString();
  return h('td', { class: isNumber && 'number', title }, title);
}
