// The filters of a list: text, facets, and selectors for people who know them.
import { StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import type { Changes } from '../route.ts';
import { Facet, TextField, toggle } from '../ui/controls.ts';
import { statusWord } from '../ui/values.ts';
import { facetsOf, type ListFacet } from './list-query.ts';
import type { Counts } from './use-list.ts';

export interface ListFiltersProps {
  readonly counts: Counts;
  readonly labelKeys: readonly string[];
  readonly error: Error | undefined;
}

/** Maximum number of values of a facet. */
const VALUES = 200;
/** Time without a key in ms after which the text filters. */
const DELAY_MS = 250;

export function ListFilters({ counts, labelKeys, error }: ListFiltersProps): ComponentChildren {
  const { route, change } = useExplore();
  const { query } = route;
  const text = (name: string): string => query.get(name) ?? '';
  const filter = (changes: Changes, options = {}): void => change({ ...changes, page: undefined }, options);
  const invalid = error instanceof StatusError ? error.causes.map(({ field }) => field) : [];
  // Applied with Enter, because a half-written selector is an error.
  const selector = (name: string, label: string, placeholder: string): ComponentChildren =>
    h(TextField, {
      label,
      text: text(name),
      placeholder,
      'aria-invalid': invalid.includes(name),
      apply: (value) => filter({ [name]: value.trim() }),
    });
  const labelKey = h(TextField, {
    text: text('by'),
    offered: labelKeys,
    placeholder: 'key',
    'aria-label': 'Label key',
    apply: (key) => filter({ by: key.trim(), value: undefined }),
  });
  const facet = ({ title, name, parameter }: ListFacet): ComponentChildren => {
    const selected = query.getAll(parameter);
    const known = counts[name] ?? {};
    const values = [...new Set([...selected, ...Object.keys(known)])].slice(0, VALUES);
    const isLabel = parameter === 'value';
    if (values.length === 0 && !isLabel) return null;
    const select = (next: readonly string[]): void => filter({ [parameter]: next });
    const content = (value: string): ComponentChildren =>
      name === 'status' ? statusWord(value) : h('bdi', { class: 'ellipsis' }, value);
    const props = { title, values, counts: known, selected, select, content };
    return h(Facet, { key: title, ...props }, isLabel && labelKey);
  };
  return h('section', { class: 'stack', 'aria-label': 'Filters' }, [
    h('div', { class: 'row' }, [
      h(TextField, {
        type: 'search',
        maxLength: 200,
        'aria-label': 'Filter by text',
        placeholder: 'Filter by name, label or image',
        delayMs: DELAY_MS,
        text: text('q'),
        apply: (q) => filter({ q }, { replace: true }),
      }),
      h('details', { class: 'selectors', open: query.has('labelSelector') || query.has('fieldSelector') }, [
        h('summary', {}, 'Selectors'),
        selector('labelSelector', 'Label selector', 'app in (cart, web), !canary'),
        selector('fieldSelector', 'Field selector', 'metadata.name!=web'),
      ]),
    ]),
    facetsOf(query).map(facet),
    query.has('ownerReference') &&
      toggle('Objects of one owner', true, () => filter({ ownerReference: undefined })),
  ]);
}
