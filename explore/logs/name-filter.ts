// A filter by names: chips of the chosen names, and an input that offers the names of the cluster. A text that is not
// one of them selects the names that contain it.
import { type ComponentChildren, h } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import type { Changes } from '../route.ts';
import { Toggle } from '../ui/toggle.ts';
import { namesIn } from './log-query.ts';

export interface NameFilterProps {
  readonly label: string;
  readonly query: URLSearchParams;
  /** Parameters of exact names and of parts of names. */
  readonly exact: string;
  readonly part: string;
  /** The kinds whose names are offered. */
  readonly kinds: readonly string[];
  readonly change: (changes: Changes) => void;
}

const OFFERED = 300;

export function NameFilter({ label, query, exact, part, kinds, change }: NameFilterProps): ComponentChildren {
  const { client } = useExplore();
  const id = useId();
  const [offered, setOffered] = useState<readonly string[]>([]);
  const offer = async (): Promise<void> => {
    const namespaces = exact === 'namespaces' ? [] : namesIn(query, 'namespaces');
    const sent = { namespaces, limit: OFFERED, sortBy: 'name', ascending: true };
    // Those that the user may not list can be typed.
    const pages = await Promise.allSettled(kinds.map((kind) => client.lists.page(kind, sent)));
    const items = pages.flatMap((page) => (page.status === 'fulfilled' ? page.value.items : []));
    setOffered([...new Set(items.map(({ metadata }) => metadata.name))]);
  };
  const set = (name: string, values: readonly string[]): void =>
    // The namespace of the frame is one of the names.
    change({ ...(name === 'namespaces' ? { namespace: undefined } : {}), [name]: values.join(',') });
  const add = (input: HTMLInputElement): void => {
    const value = input.value.trim().replaceAll(',', '');
    if (value === '') return;
    input.value = '';
    const name = offered.includes(value) ? exact : part;
    set(name, [...namesIn(query, name), value]);
  };
  const chips = (name: string): ComponentChildren =>
    namesIn(query, name).map((value, index, values) =>
      h(
        Toggle,
        {
          ...{ key: `${name} ${value}`, isOn: true, title: `Remove the filter ${label} ${value}` },
          onClick: () => set(name, values.toSpliced(index, 1)),
        },
        name === part ? `…${value}… ×` : `${value} ×`,
      ),
    );
  return h('div', { class: 'row name-filter' }, [
    h('label', { class: 'muted', for: id }, label),
    chips(exact),
    chips(part),
    h('input', {
      ...{
        id,
        list: `${id}-names`,
        placeholder: 'All',
        autocomplete: 'off',
        spellcheck: false,
        maxLength: 253,
      },
      onFocus: () => void offer(),
      onKeyDown: ({ key, currentTarget }) => key === 'Enter' && add(currentTarget),
      onChange: ({ currentTarget }) => add(currentTarget),
    }),
    h(
      'datalist',
      { id: `${id}-names` },
      offered.map((value) => h('option', { key: value, value })),
    ),
  ]);
}
