// A table that has only the visible rows in the document, with the row numbers of the whole table for screen readers. The arrow
// keys move between the links of the rows; the row with the focus stays in the document wherever the table is scrolled.
import { type ComponentChildren, Fragment, h } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface VirtualRowsProps {
  /** Accessible name of the table. */
  readonly label: string;
  readonly count: number;
  /** Index of the first row, and number of rows, in the whole table of which this is a page. */
  readonly offset: number;
  readonly total: number;
  /** Height of each row in px, which the style sheet also sets. */
  readonly rowHeight: number;
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

export function VirtualRows(props: VirtualRowsProps): ComponentChildren {
  const { label, count, offset, total, rowHeight, page, isBusy, head, width } = props;
  const box = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<Range>({ first: 0, last: 40 });
  const [active, setActive] = useState(0);
  const wantsFocus = useRef(false);
  const measure = (): void => {
    if (!box.current) return;
    const { scrollTop, clientHeight } = box.current;
    // In steps, so that not each pixel renders the rows again.
    const first = Math.floor(scrollTop / rowHeight / MARGIN) * MARGIN;
    const last = first + Math.ceil(clientHeight / rowHeight) + MARGIN;
    setRange((before) => (before.first === first && before.last === last ? before : { first, last }));
  };
  useLayoutEffect(measure, [rowHeight, count]);
  useEffect(() => {
    if (!box.current) return undefined;
    const resized = new ResizeObserver(measure);
    resized.observe(box.current);
    return () => resized.disconnect();
  }, [rowHeight]);
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = 0;
    setActive(0);
    measure();
  }, [page]);
  const current = Math.min(active, Math.max(0, count - 1));
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    box.current?.querySelector<HTMLElement>('tbody [tabindex="0"]')?.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey || !box.current) return;
    const header = box.current.querySelector('thead')?.clientHeight ?? 0;
    const visible = box.current.clientHeight - header;
    const step = Math.max(1, Math.floor(visible / rowHeight) - 1);
    const next = targetOf(event.key, current, step, count);
    if (next === undefined) return;
    event.preventDefault();
    const top = next * rowHeight;
    if (top < box.current.scrollTop) box.current.scrollTop = top;
    else if (top + rowHeight > box.current.scrollTop + visible)
      box.current.scrollTop = top + rowHeight - visible;
    wantsFocus.current = true;
    setActive(next);
    measure();
  };
  const onFocusIn = (event: FocusEvent): void => {
    const row = event.target instanceof Element ? event.target.closest('tr') : undefined;
    const index = Number(row?.getAttribute('aria-rowindex')) - offset - FIRST_ROW;
    if (index >= 0 && index < count) setActive(index);
  };
  return h('div', { class: 'rows', ref: box, onScroll: measure, 'aria-busy': isBusy }, [
    h('table', { 'aria-label': label, 'aria-rowcount': total + 1, style: { minWidth: `${width}ch` } }, [
      head,
      h('tbody', { onKeyDown, onFocusIn }, rowsOf(props, range, current)),
    ]),
  ]);
}

/** Visible rows, without MARGIN. */
interface Range {
  readonly first: number;
  /** Not included. */
  readonly last: number;
}

/** `aria-rowindex` of the first row: the header has 1. */
const FIRST_ROW = 2;

function rowsOf(props: VirtualRowsProps, range: Range, active: number): ComponentChildren[] {
  const { count, offset, rowHeight, columns, row } = props;
  const first = Math.max(0, Math.min(range.first, count) - MARGIN);
  const last = Math.min(count, range.last + MARGIN);
  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  if (active < first && count > 0) indexes.unshift(active);
  if (active >= last && count > 0) indexes.push(active);
  const gap = (key: string, rows: number): ComponentChildren =>
    rows > 0
      ? h(
          'tr',
          { key, class: 'gap', 'aria-hidden': true },
          h('td', { colSpan: columns, style: { height: `${rows * rowHeight}px` } }),
        )
      : undefined;
  const shown = indexes.map((index, i) => {
    const { key, flash, cells } = row(index, index === active ? 0 : -1);
    const attributes = { 'aria-rowindex': offset + index + FIRST_ROW, 'data-flash': flash };
    return h(Fragment, { key }, [
      gap('gap', index - (indexes[i - 1] ?? -1) - 1),
      h('tr', { key: 'row', ...attributes }, cells),
    ]);
  });
  const end = gap('end', count - 1 - (indexes.at(-1) ?? -1));
  return end ? [...shown, end] : shown;
}

function targetOf(key: string, current: number, step: number, count: number): number | undefined {
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: current + 1,
    ArrowUp: current - 1,
    PageDown: current + step,
    PageUp: current - step,
    Home: 0,
    End: count - 1,
  };
  const target = Object.hasOwn(targets, key) ? targets[key] : undefined;
  return target === undefined ? undefined : Math.max(0, Math.min(count - 1, target));
}
