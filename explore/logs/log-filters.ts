// The filters of the view: text, names, levels and the time range. All of them are in the address.
import {
  localTime,
  logFiltersIn,
  RELATIVE_RANGES,
  relativeRangeIn,
  SEVERITIES,
  StatusError,
  type TimeRange,
} from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { absolute } from '../route.ts';
import { choice, Facet, TextField, toggle } from '../ui/controls.ts';
import { type Buckets, sumOf } from './histogram.ts';

export interface LogFiltersProps {
  readonly range: TimeRange;
  readonly buckets: Buckets | undefined;
  readonly error: Error | undefined;
}

/** Time without a key in ms after which the text filters. */
const DELAY_MS = 300;
/** Maximum number of names of a kind that a filter offers. */
const OFFERED_NAMES = 300;
const WORKLOADS = ['deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch'];
const MATCHES = {
  prefix: 'Words',
  phrase: 'Whole words',
  substring: 'Exact text',
  regex: 'Regular expression',
};

export function LogFilters({ range, buckets, error }: LogFiltersProps): ComponentChildren {
  const { route, change } = useExplore();
  const { query } = route;
  const message = textError(error);
  const isCase = query.get('case') === 'respect';
  return h('section', { class: 'stack', 'aria-label': 'Filters' }, [
    h('div', { class: 'row' }, [
      h(TextField, {
        type: 'search',
        'aria-label': 'Text of the line',
        placeholder: 'Search in lines',
        maxLength: 1000,
        'aria-invalid': message !== '',
        'aria-describedby': 'text-error',
        text: query.get('log_query') ?? '',
        delayMs: DELAY_MS,
        apply: (text) => change({ log_query: text }, { replace: true }),
      }),
      choice('Match', query.get('match') ?? 'prefix', MATCHES, (match) => change({ match })),
      toggle('Match case', isCase, (isOn) => change({ case: isOn ? 'respect' : undefined })),
      h(RangeFilter, { range }),
    ]),
    message !== '' &&
      h('p', { id: 'text-error', class: 'status', 'data-tone': 'bad', role: 'status' }, message),
    h('div', { class: 'row' }, [
      h(NameFilter, { label: 'Namespaces', name: 'namespace', kinds: ['namespaces'] }),
      h(NameFilter, { label: 'Workloads', name: 'workload', kinds: WORKLOADS }),
      h(NameFilter, { label: 'Pods', name: 'pod', kinds: ['pods'] }),
      h(NameFilter, { label: 'Containers', name: 'container', kinds: [] }),
    ]),
    h(Facet, {
      title: 'Level',
      values: LEVELS,
      counts: buckets ? Object.fromEntries(LEVELS.map((level) => [level, sumOf(buckets, [level])])) : {},
      selected: logFiltersIn(query).level ?? [],
      select: (levels) => change({ level: levels.join(',') }),
      content: (level) => h('span', { class: 'status', 'data-severity': level }, level),
    }),
  ]);
}

/** The validation errors of the text. */
export function textError(error: Error | undefined): string {
  const causes = error instanceof StatusError ? error.causes : [];
  const ofText = causes.filter(({ field = '' }) => ['log_query', 'match', 'case'].includes(field));
  return ofText.map(({ message }) => message).join(', ');
}

const CUSTOM = 'custom';
const OFFERED_RANGES = {
  ...Object.fromEntries(Object.keys(RELATIVE_RANGES).map((name) => [name, `Last ${name}`])),
  [CUSTOM]: 'From – to',
};

function RangeFilter({ range }: Pick<LogFiltersProps, 'range'>): ComponentChildren {
  const { route, change } = useExplore();
  const last = relativeRangeIn(route.query);
  const choose = (value: string): void =>
    change(value === CUSTOM ? absolute(range) : { last: value, start_time: undefined, end_time: undefined });
  const at = (label: string, edge: keyof TimeRange): ComponentChildren =>
    h('input', {
      'aria-label': label,
      type: 'datetime-local',
      step: 1,
      required: true,
      value: localTime(range[edge] * 1000).slice(0, 19),
      onChange: ({ currentTarget: { value } }) =>
        value !== '' && change(absolute({ ...range, [edge]: Date.parse(value) / 1000 })),
    });
  return [
    choice('Time range', last ?? CUSTOM, OFFERED_RANGES, choose),
    last === undefined && [at('From', 'start_time'), at('To', 'end_time')],
  ];
}

const LEVELS = SEVERITIES.filter((severity) => severity !== 'none');

interface NameFilterProps {
  readonly label: string;
  /** In the parameters of exact names and of parts of names. */
  readonly name: 'namespace' | 'workload' | 'pod' | 'container';
  /** The kinds whose names are offered. */
  readonly kinds: readonly string[];
}

/** It offers the names of the cluster; a text that is not one of them selects the names that contain it. */
function NameFilter({ label, name, kinds }: NameFilterProps): ComponentChildren {
  const { client, route, change } = useExplore();
  const [offered, setOffered] = useState<readonly string[]>([]);
  const [exact, part] = [`${name}s`, `${name}_query`] as const;
  const filters = logFiltersIn(route.query);
  const names = filters[exact] ?? [];
  const chosen = [...names, ...(filters[part] ?? [])];
  const offer = async (): Promise<void> => {
    const namespaces = name === 'namespace' ? [] : filters.namespaces;
    const sent = { namespaces, limit: OFFERED_NAMES, sortBy: 'name', ascending: true };
    // Those that the user may not list can be typed.
    const pages = await Promise.allSettled(kinds.map((kind) => client.lists.page(kind, sent)));
    const items = pages.flatMap((page) => (page.status === 'fulfilled' ? page.value.items : []));
    setOffered([...new Set(items.map(({ metadata }) => metadata.name))]);
  };
  const apply = (text: string): void => {
    const known = new Set([...names, ...offered]);
    const typed = text.split(',').map((each) => each.trim());
    change({
      // The namespace of the frame is one of the names.
      ...(name === 'namespace' && { namespace: undefined }),
      [exact]: typed.filter((each) => known.has(each)).join(),
      [part]: typed.filter((each) => each !== '' && !known.has(each)).join(),
    });
  };
  return h(TextField, {
    label,
    type: 'search',
    placeholder: 'All',
    maxLength: 1000,
    text: chosen.join(', '),
    apply,
    onFocus: () => void offer(),
    // The browser compares the whole text.
    offered: offered.filter((each) => !chosen.includes(each)).map((each) => [...chosen, each].join(', ')),
  });
}
