// A short table with a header, which scrolls sideways in its box.
import { type ComponentChildren, h } from 'preact';

export interface TextTableProps {
  /** Accessible name. */
  readonly label: string;
  readonly names: readonly string[];
  /** True if only screen readers need the header. */
  readonly isHeadHidden?: boolean;
  /** Elements `tr`. */
  readonly rows: ComponentChildren;
}

export function TextTable({ label, names, isHeadHidden, rows }: TextTableProps): ComponentChildren {
  const heads = names.map((name) => h('th', { scope: 'col' }, name));
  // Focusable, because it scrolls.
  return h('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': label }, [
    h('table', {}, [
      h('thead', isHeadHidden ? { class: 'hidden-text' } : {}, h('tr', {}, heads)),
      h('tbody', {}, rows),
    ]),
  ]);
}
