// A table that has only the visible rows in the document, with the row numbers of the whole table for screen readers. The arrow
// keys move between the links of the rows; the row with the focus stays in the document wherever the table is scrolled.
import { type ComponentChildren, h } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface VirtualRowsProps {
  /** Accessible name of the table. */
  readonly label: string;
  readonly count: number;
  /** Index of the first row, and number of rows, in the whole table of which this is a page. */
  readonly offset: number;
  readonly total: number;
  readonly columns: number;
  /** Width of the narrowest table, in characters. */
  readonly width: number;
  /** Changes when other rows are shown, so that the first of them is visible. */
  readonly page: string;
  readonly isBusy: boolean;
  /** The `colgroup` and the `thead`. */
  readonly head: ComponentChildren;
  /** Returns the cells of a row. The row has one link: `tabIndex` is its place in the order of the Tab key. */
  readonly row: (
    index: number,
    tabIndex: 0 | -1,
  ) => { readonly key: string; readonly flash: string | undefined; readonly cells: ComponentChildren };
}

/** Rows in the document above and below the visible ones. */
const MARGIN = 8;
/** Distance in px after which other rows are rendered: less than the margin. */
const STEP = 200;
/** `aria-rowindex` of the first row: the header has 1. */
const FIRST_ROW = 2;

export function VirtualRows(props: VirtualRowsProps): ComponentChildren {
  const { label, count, offset, total, page, isBusy, head, width } = props;
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [rowHeight, setRowHeight] = useState(36);
  const [active, setActive] = useState(0);
  const wantsFocus = useRef(false);
  const current = Math.min(active, count - 1);
  useLayoutEffect(() => {
    box.current?.scrollTo(0, 0);
    setActive(0);
  }, [page]);
  useLayoutEffect(() => {
    const row = box.current?.querySelector<HTMLElement>('tbody [aria-rowindex]');
    // The style sheet sets the height, another one on a phone.
    if (row) setRowHeight(row.offsetHeight);
    if (wantsFocus.current)
      box.current?.querySelector<HTMLElement>('tbody [tabindex="0"]')?.focus({ preventScroll: true });
    wantsFocus.current = false;
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey || !box.current) return;
    const visible = box.current.clientHeight - (box.current.querySelector('thead')?.clientHeight ?? 0);
    const next = targetOf(event.key, current, Math.max(1, Math.floor(visible / rowHeight) - 1), count);
    if (next === undefined) return;
    event.preventDefault();
    const { scrollTop } = box.current;
    box.current.scrollTop = Math.min(next * rowHeight, Math.max(scrollTop, (next + 1) * rowHeight - visible));
    wantsFocus.current = true;
    setActive(next);
  };
  const onFocusIn = (event: FocusEvent): void => {
    const row = event.target instanceof Element ? event.target.closest('tr') : undefined;
    setActive(Number(row?.getAttribute('aria-rowindex')) - offset - FIRST_ROW);
  };
  const onScroll = (): void => setTop(Math.floor((box.current?.scrollTop ?? 0) / STEP) * STEP);
  return h('div', { class: 'rows', ref: box, onScroll, 'aria-busy': isBusy }, [
    h('table', { 'aria-label': label, 'aria-rowcount': total + 1, style: { minWidth: `${width}ch` } }, [
      head,
      h('tbody', { onKeyDown, onFocusIn }, rowsOf(props, rowHeight, Math.floor(top / rowHeight), current)),
    ]),
  ]);
}

/** The rows from `visible` on that fit on the screen, and the active one, with gaps in place of the others. */
function rowsOf(
  { count, offset, columns, row }: VirtualRowsProps,
  rowHeight: number,
  visible: number,
  active: number,
): ComponentChildren[] {
  const first = Math.max(0, Math.min(visible, count) - MARGIN);
  const last = Math.min(count, visible + Math.ceil(screen.height / rowHeight) + MARGIN);
  const indexes = Array.from({ length: last - first }, (_, i) => first + i);
  if (active >= 0 && active < first) indexes.unshift(active);
  if (active >= last) indexes.push(active);
  return [...indexes, count].flatMap((index, i) => {
    const gap = index - (indexes[i - 1] ?? -1) - 1;
    const style = { height: `${gap * rowHeight}px` };
    const space =
      gap > 0 &&
      h('tr', { key: `gap-${i}`, class: 'gap', 'aria-hidden': true }, h('td', { colSpan: columns, style }));
    if (index === count) return [space];
    const { key, flash, cells } = row(index, index === active ? 0 : -1);
    return [space, h('tr', { key, 'aria-rowindex': offset + index + FIRST_ROW, 'data-flash': flash }, cells)];
  });
}

function targetOf(key: string, current: number, step: number, count: number): number | undefined {
  const targets = new Map([
    ['ArrowDown', current + 1],
    ['ArrowUp', current - 1],
    ['PageDown', current + step],
    ['PageUp', current - step],
    ['Home', 0],
    ['End', count - 1],
  ]);
  const target = targets.get(key);
  return target === undefined ? undefined : Math.max(0, Math.min(count - 1, target));
}
