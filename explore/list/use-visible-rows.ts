// The rows of a long table that are in the document: the visible ones, and the one with the focus wherever the table is scrolled. The
// arrow keys move between the links of the rows.
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface VisibleRows {
  /** The visible rows, and some before and after them. `last` is excluded. */
  readonly first: number;
  readonly last: number;
  /** The row whose link the Tab key reaches. */
  readonly current: number;
  /** The box in which the table scrolls. */
  readonly box: { readonly ref: RefObject<HTMLDivElement | null>; readonly onScroll: () => void };
  readonly body: {
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly onFocusIn: (event: FocusEvent) => void;
  };
}

/** In px: 2.25rem, as in the style sheet. */
export const ROW_HEIGHT = 2.25 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
/** Rows in the document above and below the visible ones, at least. */
const MARGIN = 8;

/** `list`: changes when other rows are shown, so that the first of them is visible. Rows have their index in `data-index`. */
export function useVisibleRows(count: number, list: string): VisibleRows {
  const ref = useRef<HTMLDivElement>(null);
  const begin = { list, top: 0, active: 0 };
  const [state, setState] = useState(begin);
  const { top, active } = state.list === list ? state : begin;
  const change = (part: Partial<typeof begin>): void =>
    setState((before) => ({ ...(before.list === list ? before : begin), ...part }));
  const wantsFocus = useRef(false);
  const current = Math.min(active, count - 1);
  useLayoutEffect(() => ref.current?.scrollTo({ top: 0 }), [list]);
  const hadFocus = focusedIn(ref.current) !== undefined;
  useLayoutEffect(() => {
    const focused = focusedIn(ref.current);
    const link = ref.current?.querySelector<HTMLElement>('tbody [tabindex="0"]');
    if (wantsFocus.current) {
      wantsFocus.current = false;
      link?.scrollIntoView({ block: 'nearest' });
      link?.focus({ preventScroll: true });
    } else if (hadFocus && focused === undefined) {
      // The row with the focus was deleted, or its placeholder was replaced.
      link?.focus({ preventScroll: true });
    } else if (focused !== undefined && focused !== active) {
      // The row with the focus has another place.
      change({ active: focused });
    }
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: count - 1 }[event.key];
    if (target === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    wantsFocus.current = true;
    change({ active: Math.max(0, Math.min(count - 1, target)) });
  };
  const onFocusIn = (): void => change({ active: focusedIn(ref.current) ?? current });
  // In steps, because not each pixel needs other rows.
  const onScroll = (): void => {
    const step = Math.floor((ref.current?.scrollTop ?? 0) / ROW_HEIGHT / MARGIN);
    const next = Math.max(0, step - 1) * MARGIN;
    if (next !== top) change({ top: next });
  };
  const first = Math.min(top, count);
  const last = Math.min(count, first + Math.ceil(screen.height / ROW_HEIGHT) + 3 * MARGIN);
  return { first, last, current, box: { ref, onScroll }, body: { onKeyDown, onFocusIn } };
}

/** Returns the index of the row with the focus. */
function focusedIn(box: HTMLElement | null): number | undefined {
  const index = box?.querySelector<HTMLElement>('tbody tr:focus-within')?.dataset['index'];
  return index === undefined ? undefined : Number(index);
}
