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
  /** Width of the narrowest table. */
  readonly minWidth: string;
  /** Changes when other rows are shown, so that the first of them is visible. */
  readonly page: string;
  readonly isBusy: boolean;
  /** The `colgroup` and the `thead`. */
  readonly head: ComponentChildren;
  /** Returns a row, which has one link: `tabIndex` is its place in the order of the Tab key. */
  readonly row: (index: number, tabIndex: 0 | -1) => Row;
}

interface Row {
  readonly key: string;
  readonly cells: ComponentChildren;
}

/** In px, as in the style sheet. */
const ROW_HEIGHT = 36;
/** Rows in the document above and below the visible ones, at least. */
const MARGIN = 8;
/** `aria-rowindex` of the first row: the header has 1. */
const FIRST_ROW = 2;

export function VirtualRows(props: VirtualRowsProps): ComponentChildren {
  const { label, count, offset, total, minWidth, page, isBusy, head, row } = props;
  const box = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [active, setActive] = useState(0);
  const wantsFocus = useRef(false);
  const current = Math.min(active, count - 1);
  useLayoutEffect(() => {
    box.current?.scrollTo({ top: 0 });
    setActive(0);
  }, [page]);
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    const link = box.current?.querySelector<HTMLElement>('tbody [tabindex="0"]');
    link?.scrollIntoView({ block: 'nearest' });
    link?.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: count - 1 }[event.key];
    if (target === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    wantsFocus.current = true;
    setActive(Math.max(0, Math.min(count - 1, target)));
  };
  const onFocusIn = (event: FocusEvent): void => {
    const focused = event.target instanceof Element ? event.target.closest('tr') : undefined;
    setActive(Number(focused?.getAttribute('aria-rowindex')) - offset - FIRST_ROW);
  };
  // In steps, because not each pixel needs other rows.
  const onScroll = (): void => {
    const step = Math.floor((box.current?.scrollTop ?? 0) / ROW_HEIGHT / MARGIN);
    setFirst(Math.max(0, step - 1) * MARGIN);
  };
  const last = Math.min(count, first + Math.ceil(screen.height / ROW_HEIGHT) + 3 * MARGIN);
  const indexes = Array.from({ length: last - first }, (_, i) => first + i);
  if (current < first) indexes.unshift(current);
  if (current >= last) indexes.push(current);
  const rows = indexes.flatMap((index, i) => {
    const { key, cells } = row(index, index === current ? 0 : -1);
    return [
      gap(index - (indexes[i - 1] ?? -1) - 1, `gap before ${key}`),
      h('tr', { key, 'aria-rowindex': offset + index + FIRST_ROW }, cells),
    ];
  });
  return h('div', { class: 'rows', ref: box, onScroll, 'aria-busy': isBusy }, [
    h('table', { 'aria-label': label, 'aria-rowcount': total + 1, style: { minWidth } }, [
      head,
      h('tbody', { onKeyDown, onFocusIn }, [...rows, gap(count - (indexes.at(-1) ?? -1) - 1, 'last gap')]),
    ]),
  ]);
}

/** Space in place of rows that are not in the document. */
function gap(rows: number, key: string): ComponentChildren {
  const style = { height: `${rows * ROW_HEIGHT}px` };
  return rows > 0 && h('tr', { key, class: 'gap', 'aria-hidden': true }, h('td', { style }));
}
