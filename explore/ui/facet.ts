// The values of a facet as chips with their counts. A pressed chip filters.
import { type ComponentChildren, h } from 'preact';
import { Toggle } from './toggle.ts';

export interface FacetProps {
  readonly title: string;
  readonly values: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly selected: readonly string[];
  readonly select: (values: readonly string[]) => void;
  /** What a chip shows of its value. */
  readonly content: (value: string) => ComponentChildren;
  readonly children?: ComponentChildren;
}

/** Chips that are always shown; the others are shown on request. */
const FEW = 8;

export function Facet(props: FacetProps): ComponentChildren {
  const { title, values, counts, selected, select, content, children } = props;
  const chips = values.map((value) => {
    const isOn = selected.includes(value);
    const next = isOn ? selected.filter((each) => each !== value) : [...selected, value];
    return h(Toggle, { key: value, isOn, onClick: () => select(next), title: value }, [
      content(value),
      h('span', { class: 'muted small' }, Object.hasOwn(counts, value) && counts[value]?.toLocaleString()),
    ]);
  });
  return h('div', { class: 'row facet', role: 'group', 'aria-label': title }, [
    h('span', { class: 'muted small' }, title),
    children,
    chips.slice(0, FEW),
    chips.length > FEW &&
      h('details', {}, [h('summary', {}, `${chips.length - FEW} more`), chips.slice(FEW)]),
  ]);
}
