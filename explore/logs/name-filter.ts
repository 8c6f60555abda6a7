// A filter by names: chips of the chosen names, and an input that offers the names of the cluster. A text that is not
// one of them selects the names that contain it.
import { type ComponentChildren, h } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Changes } from '../route.ts';
import { namesIn } from './log-query.ts';

export interface NameFilterProps {
  readonly label: string;
  readonly query: URLSearchParams;
  /** Parameters of exact names and of parts of names. */
  readonly exact: string;
  readonly part: string;
  /** The names that the user may list. Called when the input gets the focus. */
  readonly offer: () => Promise<readonly string[]>;
  readonly change: (changes: Changes) => void;
}

export function NameFilter({ label, query, exact, part, offer, change }: NameFilterProps): ComponentChildren {
  const id = useId();
  const [offered, setOffered] = useState<readonly string[]>([]);
  const names = namesIn(query, exact);
  const parts = namesIn(query, part);
  const set = (parameter: string, values: readonly string[]): void => {
    const frame = exact === 'namespaces' ? { namespace: undefined } : {};
    change({ ...(parameter === exact ? frame : {}), [parameter]: values.join(',') });
  };
  const choose = (input: HTMLInputElement): void => {
    const value = input.value.trim().replaceAll(',', '');
    if (value === '') return;
    input.value = '';
    if (offered.includes(value)) set(exact, [...names, value]);
    else set(part, [...parts, value]);
  };
  const chip = (parameter: string, values: readonly string[], value: string): ComponentChildren =>
    h(
      'button',
      {
        ...{ key: `${parameter} ${value}`, type: 'button', class: 'chip', 'aria-pressed': true },
        'aria-label': `Remove the filter ${label} ${value}`,
        onClick: () =>
          set(
            parameter,
            values.filter((each) => each !== value),
          ),
      },
      [parameter === part ? `…${value}…` : value, h('span', { 'aria-hidden': true }, '×')],
    );
  return h('div', { class: 'name-filter' }, [
    h('label', { class: 'muted', for: id }, label),
    ...names.map((value) => chip(exact, names, value)),
    ...parts.map((value) => chip(part, parts, value)),
    h('input', {
      ...{
        id,
        type: 'text',
        list: `${id}-names`,
        placeholder: names.length + parts.length > 0 ? 'and …' : 'All',
      },
      ...{ autocomplete: 'off', spellcheck: false, maxLength: 253 },
      onFocus: () => void offer().then(setOffered, () => undefined),
      onKeyDown: (event) => {
        if (event.key === 'Enter') choose(event.currentTarget);
      },
      // A choice of the list, or the end of typing.
      onChange: (event) => choose(event.currentTarget),
    }),
    h(
      'datalist',
      { id: `${id}-names` },
      offered.filter((name) => !names.includes(name)).map((name) => h('option', { key: name, value: name })),
    ),
  ]);
}
