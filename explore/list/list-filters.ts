// The filters of a list: text, facets, and selectors for people who know them.
import { StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Changes, type ListRoute, navigate, withQuery } from '../route.ts';
import { Toggle } from '../ui/toggle.ts';
import { Facet } from './facet.ts';
import type { ShownQuery } from './list-query.ts';
import type { Facets } from './use-list.ts';

export interface ListFiltersProps {
  readonly route: ListRoute;
  readonly shown: ShownQuery;
  readonly facets: Facets;
  readonly labelKeys: readonly string[];
  readonly error: Error | undefined;
}

/** Time without a key in ms after which the text filters. */
const DELAY_MS = 250;

const SELECTORS = {
  labelSelector: ['Label selector', 'app in (cart, web), !canary'],
  fieldSelector: ['Field selector', 'metadata.name!=web'],
} as const;
const PLAIN = { spellcheck: false, autocomplete: 'off' } as const;

export function ListFilters({ route, shown, facets, labelKeys, error }: ListFiltersProps): ComponentChildren {
  const { query } = route;
  const change = (changes: Changes): void => navigate(withQuery(route, { ...changes, page: undefined }));
  const facet = (title: string, name: string, parameter: string, children?: ComponentChildren) => {
    const selected = query.getAll(parameter);
    const counts = facets[name] ?? {};
    return h(
      Facet,
      { title, counts, selected, change: (values) => change({ [parameter]: values }) },
      children,
    );
  };
  // Applied with Enter, because a half-written selector is an error.
  const selector = (name: keyof typeof SELECTORS): ComponentChildren => {
    const [label, placeholder] = SELECTORS[name];
    const causes = error instanceof StatusError ? error.causes.filter(({ field }) => field === name) : [];
    const errorId = `${name}-error`;
    return h('label', { class: 'selector' }, [
      h('span', { class: 'muted' }, label),
      h('input', {
        ...{ type: 'text', value: query.get(name) ?? '', placeholder, ...PLAIN },
        ...{ 'aria-invalid': causes.length > 0, 'aria-describedby': errorId },
        onChange: (event) => change({ [name]: event.currentTarget.value.trim() }),
      }),
      h(
        'span',
        { id: errorId, class: 'field-error', role: 'status' },
        causes.map(({ message }) => message).join(', '),
      ),
    ]);
  };
  const isOpen = query.has('labelSelector') || query.has('fieldSelector');
  const labelKey = h('input', {
    ...{ class: 'label-key', list: 'label-keys', 'aria-label': 'Label key', placeholder: 'key', ...PLAIN },
    value: shown.labelKey,
    onChange: (event) => change({ by: event.currentTarget.value.trim(), value: undefined }),
  });
  const keys = labelKeys.map((value) => h('option', { value }));
  const allOwners = (): void => change({ ownerReference: undefined });
  return h('section', { class: 'filters', 'aria-label': 'Filters' }, [
    h('div', { class: 'filter-row' }, [
      h(TextFilter, { route }),
      h('details', { class: 'selectors', open: isOpen }, [
        h('summary', {}, 'Selectors'),
        h('div', { class: 'filter-row' }, [selector('labelSelector'), selector('fieldSelector')]),
      ]),
    ]),
    facet('Status', 'status', 'status'),
    facet('Namespace', 'namespace', 'namespace'),
    facet('Label', `label:${shown.labelKey}`, 'value', [labelKey, h('datalist', { id: 'label-keys' }, keys)]),
    query.has('ownerReference') &&
      h('div', { class: 'facet' }, [
        h('span', { class: 'muted' }, 'Owner'),
        h(Toggle, { isOn: true, onClick: allOwners }, 'One object only'),
      ]),
  ]);
}

function TextFilter({ route }: { readonly route: ListRoute }): ComponentChildren {
  const q = route.query.get('q') ?? '';
  const [text, setText] = useState(q);
  useEffect(() => setText(q), [q]);
  useEffect(() => {
    if (text === q) return undefined;
    const apply = (): void => navigate(withQuery(route, { q: text, page: undefined }), { replace: true });
    const timer = setTimeout(apply, DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return h('input', {
    ...{ type: 'search', class: 'text-filter', 'aria-label': 'Filter by text', value: text, maxLength: 200 },
    ...{ placeholder: 'Filter by name, label or image', ...PLAIN },
    onInput: (event) => setText(event.currentTarget.value),
  });
}
