// The rows of a long table that are in the document: the visible ones, and the one with the focus wherever the table is scrolled. The
// arrow keys move between the links of the rows.
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface VisibleRows {
  readonly indexes: readonly number[];
  /** The row whose link the Tab key reaches. */
  readonly current: number;
  /** The box in which the table scrolls. */
  readonly box: { readonly ref: RefObject<HTMLDivElement | null>; readonly onScroll: () => void };
  readonly body: {
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly onFocusIn: (event: FocusEvent) => void;
  };
}

/** In px, as in the style sheet. */
export const ROW_HEIGHT = 36;
/** Rows in the document above and below the visible ones, at least. */
const MARGIN = 8;

/** `page`: changes when other rows are shown, so that the first of them is visible. Rows have their index in `data-index`. */
export function useVisibleRows(count: number, page: string): VisibleRows {
  const ref = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [active, setActive] = useState(0);
  const wantsFocus = useRef(false);
  const current = Math.min(active, count - 1);
  useLayoutEffect(() => {
    ref.current?.scrollTo({ top: 0 });
    setActive(0);
  }, [page]);
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    const link = ref.current?.querySelector<HTMLElement>('tbody [tabindex="0"]');
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
  const onFocusIn = ({ target }: FocusEvent): void => {
    const row = target instanceof Element ? target.closest<HTMLElement>('tr') : undefined;
    setActive(Number(row?.dataset['index']));
  };
  // In steps, because not each pixel needs other rows.
  const onScroll = (): void => {
    const step = Math.floor((ref.current?.scrollTop ?? 0) / ROW_HEIGHT / MARGIN);
    setFirst(Math.max(0, step - 1) * MARGIN);
  };
  const last = Math.min(count, first + Math.ceil(screen.height / ROW_HEIGHT) + 3 * MARGIN);
  const indexes = Array.from({ length: last - first }, (_, i) => first + i);
  if (current >= 0 && current < first) indexes.unshift(current);
  if (current >= last) indexes.push(current);
  return { indexes, current, box: { ref, onScroll }, body: { onKeyDown, onFocusIn } };
}
