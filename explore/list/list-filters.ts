// The filters of a list: text, facets, and selectors for people who know them.
import { StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Changes, type ListRoute, navigate, withQuery } from '../route.ts';
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

export function ListFilters({ route, shown, facets, labelKeys, error }: ListFiltersProps): ComponentChildren {
  const { query } = route;
  const change = (changes: Changes): void => navigate(withQuery(route, { ...changes, page: undefined }));
  const facet = (title: string, name: string, parameter: string, children?: ComponentChildren) =>
    h(
      Facet,
      {
        title,
        counts: facets[name] ?? {},
        selected: query.getAll(parameter),
        isStatus: name === 'status',
        change: (selected) => change({ [parameter]: selected }),
      },
      children,
    );
  const selectors = ['labelSelector', 'fieldSelector'] as const;
  return h('section', { class: 'filters', 'aria-label': 'Filters' }, [
    h('div', { class: 'filter-row' }, [
      h(TextFilter, { route }),
      h('details', { class: 'selectors', open: selectors.some((name) => query.has(name)) }, [
        h('summary', {}, 'Selectors'),
        h('div', { class: 'filter-row' }, [
          h(Selector, {
            label: 'Label selector',
            name: 'labelSelector',
            example: 'app in (cart, web), !canary',
            route,
            error,
          }),
          h(Selector, {
            label: 'Field selector',
            name: 'fieldSelector',
            example: 'metadata.name!=web',
            route,
            error,
          }),
        ]),
      ]),
    ]),
    facet('Status', 'status', 'status'),
    facet('Namespace', 'namespace', 'namespace'),
    facet(
      'Label',
      `label:${shown.labelKey}`,
      'value',
      h(LabelKey, {
        labelKey: shown.labelKey,
        keys: labelKeys,
        change: (by) => change({ by, value: undefined }),
      }),
    ),
    query.has('ownerReference') &&
      h('div', { class: 'facet' }, [
        h('span', { class: 'muted' }, 'Owner'),
        h(
          'button',
          {
            type: 'button',
            class: 'chip',
            'aria-pressed': true,
            onClick: () => change({ ownerReference: undefined }),
          },
          'One object only',
        ),
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
    ...{ placeholder: 'Filter by name, label or image', spellcheck: false, autocomplete: 'off' },
    onInput: (event) => setText(event.currentTarget.value),
  });
}

interface SelectorProps {
  readonly label: string;
  readonly name: 'labelSelector' | 'fieldSelector';
  readonly example: string;
  readonly route: ListRoute;
  readonly error: Error | undefined;
}

/** Applied with Enter, because a half-written selector is an error. */
function Selector({ label, name, example, route, error }: SelectorProps): ComponentChildren {
  const causes = error instanceof StatusError ? error.causes.filter(({ field }) => field === name) : [];
  return h('label', { class: 'selector' }, [
    h('span', { class: 'muted' }, label),
    h('input', {
      ...{ type: 'text', value: route.query.get(name) ?? '', placeholder: example, spellcheck: false },
      ...{ 'aria-invalid': causes.length > 0, 'aria-describedby': `${name}-error`, autocomplete: 'off' },
      onChange: (event) =>
        navigate(withQuery(route, { [name]: event.currentTarget.value.trim(), page: undefined })),
    }),
    h(
      'span',
      { id: `${name}-error`, class: 'field-error', role: 'status' },
      causes.map(({ message }) => message).join(', '),
    ),
  ]);
}

interface LabelKeyProps {
  readonly labelKey: string;
  readonly keys: readonly string[];
  readonly change: (key: string) => void;
}

function LabelKey({ labelKey, keys, change }: LabelKeyProps): ComponentChildren {
  return [
    h('input', {
      ...{
        class: 'label-key',
        list: 'label-keys',
        'aria-label': 'Label key',
        placeholder: 'key',
        value: labelKey,
      },
      ...{ spellcheck: false, autocomplete: 'off' },
      onChange: (event) => change(event.currentTarget.value.trim()),
    }),
    h(
      'datalist',
      { id: 'label-keys' },
      keys.map((key) => h('option', { key, value: key })),
    ),
  ];
}
