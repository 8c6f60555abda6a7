// The values of a facet as chips with their counts. A pressed chip filters.
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { Status } from '../ui/status.ts';
import { Toggle } from '../ui/toggle.ts';

export interface FacetProps {
  readonly title: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly selected: readonly string[];
  readonly change: (selected: readonly string[]) => void;
  readonly children?: ComponentChildren;
}

/** Chips before and after a press of `more`. */
const FEW = 8;
const MANY = 200;

export function Facet({ title, counts, selected, change, children }: FacetProps): ComponentChildren {
  const [isLong, setLong] = useState(false);
  const values = [...new Set([...Object.keys(counts), ...selected])];
  if (values.length === 0 && !children) return null;
  const shown = values.filter((value, index) => index < (isLong ? MANY : FEW) || selected.includes(value));
  const chip = (value: string): ComponentChildren => {
    const isOn = selected.includes(value);
    const onClick = (): void =>
      change(isOn ? selected.filter((each) => each !== value) : [...selected, value]);
    return h(Toggle, { key: value, isOn, onClick, title: value }, [
      title === 'Status' ? h(Status, { status: value }) : h('bdi', {}, value),
      h('span', { class: 'count' }, Object.hasOwn(counts, value) && counts[value]?.toLocaleString()),
    ]);
  };
  const more = { class: 'chip quiet', 'aria-expanded': isLong, onClick: () => setLong(!isLong) };
  return h('div', { class: 'facet', role: 'group', 'aria-label': title }, [
    h('span', { class: 'muted' }, title),
    children,
    shown.map(chip),
    values.length > FEW && h('button', more, isLong ? 'Fewer' : `${values.length - FEW} more`),
  ]);
}
