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
  readonly offer: () => Promise<Iterable<string>>;
  readonly change: (changes: Changes) => void;
}

export function NameFilter({ label, query, exact, part, offer, change }: NameFilterProps): ComponentChildren {
  const id = useId();
  const [offered, setOffered] = useState<ReadonlySet<string>>(new Set());
  const chosen = [exact, part].flatMap((name) => namesIn(query, name).map((value) => ({ name, value })));
  const set = (name: string, values: readonly string[]): void =>
    // The namespace of the frame is one of the names.
    change({ ...(name === 'namespaces' ? { namespace: undefined } : {}), [name]: values.join(',') });
  // After the Enter key, the choice of an offered name, or the end of typing.
  const choose = (input: HTMLInputElement): void => {
    const value = input.value.trim().replaceAll(',', '');
    if (value === '') return;
    input.value = '';
    const name = offered.has(value) ? exact : part;
    set(name, [...namesIn(query, name), value]);
  };
  return h('div', { class: 'log-row name-filter' }, [
    h('label', { class: 'muted', for: id }, label),
    chosen.map(({ name, value }) =>
      h(
        'button',
        {
          ...{ key: `${name} ${value}`, class: 'chip', 'aria-pressed': true },
          'aria-label': `Remove the filter ${label} ${value}`,
          onClick: () =>
            set(
              name,
              namesIn(query, name).filter((each) => each !== value),
            ),
        },
        [name === part ? `…${value}…` : value, h('span', { 'aria-hidden': true }, '×')],
      ),
    ),
    h('input', {
      ...{ id, list: `${id}-names`, placeholder: chosen.length > 0 ? 'and …' : 'All' },
      ...{ autocomplete: 'off', spellcheck: false, maxLength: 253 },
      onFocus: () => void offer().then((names) => setOffered(new Set(names))),
      onKeyDown: ({ key, currentTarget }) => key === 'Enter' && choose(currentTarget),
      onChange: ({ currentTarget }) => choose(currentTarget),
    }),
    h(
      'datalist',
      { id: `${id}-names` },
      [...offered].map((value) => h('option', { key: value, value })),
    ),
  ]);
}
