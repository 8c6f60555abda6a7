// The filters of a list: text, facets, and selectors for people who know them.
import { StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { type Changes, type ListRoute, navigate, withQuery } from '../route.ts';
import { Facet } from '../ui/facet.ts';
import { Status } from '../ui/status.ts';
import { TextField } from '../ui/text-field.ts';
import { Toggle } from '../ui/toggle.ts';
import { facetsOf, labelKeyOf } from './list-query.ts';
import type { Counts } from './use-list.ts';

export interface ListFiltersProps {
  readonly route: ListRoute;
  readonly counts: Counts;
  readonly labelKeys: readonly string[];
  readonly error: Error | undefined;
}

/** Maximum number of values of a facet. */
const VALUES = 200;
/** Time without a key in ms after which the text filters. */
const DELAY_MS = 250;

const SELECTORS = [
  { name: 'labelSelector', label: 'Label selector', placeholder: 'app in (cart, web), !canary' },
  { name: 'fieldSelector', label: 'Field selector', placeholder: 'metadata.name!=web' },
];

export function ListFilters({ route, counts, labelKeys, error }: ListFiltersProps): ComponentChildren {
  const { query } = route;
  const change = (changes: Changes): void => navigate(withQuery(route, { ...changes, page: undefined }));
  const invalid = error instanceof StatusError ? error.causes.map(({ field }) => field) : [];
  // Applied with Enter, because a half-written selector is an error.
  const selectors = SELECTORS.map(({ name, label, placeholder }) =>
    h(TextField, {
      key: name,
      label,
      text: query.get(name) ?? '',
      placeholder,
      'aria-invalid': invalid.includes(name),
      apply: (text) => change({ [name]: text.trim() }),
    }),
  );
  const labelKey = h(TextField, {
    text: labelKeyOf(route),
    offered: labelKeys,
    placeholder: 'key',
    'aria-label': 'Label key',
    apply: (key) => change({ by: key.trim(), value: undefined }),
  });
  const facets = facetsOf(route).map(({ title, name, parameter }) => {
    const selected = query.getAll(parameter);
    const known = counts[name] ?? {};
    const values = [...new Set([...selected, ...Object.keys(known)])].slice(0, VALUES);
    const select = (next: readonly string[]): void => change({ [parameter]: next });
    const content = (value: string): ComponentChildren =>
      name === 'status' ? h(Status, { status: value }) : h('bdi', { class: 'ellipsis' }, value);
    const isLabel = parameter === 'value';
    if (values.length === 0 && !isLabel) return null;
    const props = { title, values, counts: known, selected, select, content };
    return h(Facet, { key: title, ...props }, isLabel && labelKey);
  });
  return h('section', { class: 'stack', 'aria-label': 'Filters' }, [
    h('div', { class: 'row' }, [
      h(TextField, {
        type: 'search',
        maxLength: 200,
        'aria-label': 'Filter by text',
        placeholder: 'Filter by name, label or image',
        delayMs: DELAY_MS,
        text: query.get('q') ?? '',
        apply: (q) => navigate(withQuery(route, { q, page: undefined }), { replace: true }),
      }),
      h('details', { class: 'selectors', open: SELECTORS.some(({ name }) => query.has(name)) }, [
        h('summary', {}, 'Selectors'),
        selectors,
      ]),
    ]),
    facets,
    query.has('ownerReference') &&
      h(Toggle, { isOn: true, onClick: () => change({ ownerReference: undefined }) }, 'Objects of one owner'),
  ]);
}
