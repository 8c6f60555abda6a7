// A choice between values with names.
import { type ComponentChildren, h, type TargetedEvent } from 'preact';

export interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: Readonly<Record<string, string>>;
  readonly choose: (value: string) => void;
}

export function Select({ label, value, options, choose }: SelectProps): ComponentChildren {
  const onChange = (event: TargetedEvent<HTMLSelectElement>): void => choose(event.currentTarget.value);
  const items = Object.entries(options).map(([each, name]) => h('option', { key: each, value: each }, name));
  return h('select', { 'aria-label': label, value, onChange }, items);
}
