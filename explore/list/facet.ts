// The values of a facet as chips with their counts. A pressed chip filters.
import { type ComponentChildren, h } from 'preact';
import { Status } from '../ui/status.ts';
import { Toggle } from '../ui/toggle.ts';

export interface FacetProps {
  readonly title: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly selected: readonly string[];
  readonly select: (values: readonly string[]) => void;
  readonly children?: ComponentChildren;
}

/** Chips that are always shown, and those that are shown on request. */
const [FEW, MANY] = [8, 200];

export function Facet({ title, counts, selected, select, children }: FacetProps): ComponentChildren {
  const values = [...new Set([...selected, ...Object.keys(counts)])].slice(0, MANY);
  if (values.length === 0 && !children) return null;
  const chips = values.map((value) => {
    const isOn = selected.includes(value);
    const onClick = (): void =>
      select(isOn ? selected.filter((each) => each !== value) : [...selected, value]);
    return h(Toggle, { key: value, isOn, onClick, title: value }, [
      title === 'Status' ? h(Status, { status: value }) : h('bdi', { class: 'ellipsis' }, value),
      h('span', { class: 'count' }, Object.hasOwn(counts, value) && counts[value]?.toLocaleString()),
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
