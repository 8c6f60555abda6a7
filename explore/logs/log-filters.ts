// The filters of the view: text, names, levels and the time range. All of them are in the address.
import { type LogHistogram, type Severity, StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { type Changes, type LogsRoute, navigate, withQuery } from '../route.ts';
import { Facet } from '../ui/facet.ts';
import { Select } from '../ui/select.ts';
import { TextField } from '../ui/text-field.ts';
import { Toggle } from '../ui/toggle.ts';
import { absolute, lastOf, localTime, namesIn, RANGES, SEVERITIES, type TimeRange } from './log-query.ts';

export interface LogFiltersProps {
  readonly route: LogsRoute;
  readonly range: TimeRange;
  readonly histogram: LogHistogram | undefined;
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

export function LogFilters({ route, range, histogram, error }: LogFiltersProps): ComponentChildren {
  const { query } = route;
  const change = (changes: Changes): void => navigate(withQuery(route, changes));
  const message = textError(error);
  const isCase = query.get('case') === 'respect';
  const toggleCase = (): void => change({ case: isCase ? undefined : 'respect' });
  const names = (label: string, name: string, kinds: readonly string[]): ComponentChildren =>
    h(NameFilter, { label, query, exact: `${name}s`, part: `${name}_query`, kinds, change });
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
        apply: (text) => navigate(withQuery(route, { log_query: text }), { replace: true }),
      }),
      h(Select, {
        label: 'Match',
        value: query.get('match') ?? 'prefix',
        options: MATCHES,
        choose: (match) => change({ match }),
      }),
      h(Toggle, { isOn: isCase, onClick: toggleCase }, 'Match case'),
      h(RangeFilter, { route, range }),
    ]),
    message !== '' &&
      h('p', { id: 'text-error', class: 'status', 'data-tone': 'bad', role: 'status' }, message),
    h('div', { class: 'row' }, [
      names('Namespaces', 'namespace', ['namespaces']),
      names('Workloads', 'workload', WORKLOADS),
      names('Pods', 'pod', ['pods']),
      names('Containers', 'container', []),
    ]),
    h(Facet, {
      title: 'Level',
      values: LEVELS,
      counts: histogram ? countsOf(histogram) : {},
      selected: namesIn(query, 'level'),
      select: (levels) => change({ level: levels.join(',') }),
      content: (level) => [h('span', { class: 'level-mark', 'data-severity': level }), level],
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
  ...Object.fromEntries(Object.keys(RANGES).map((name) => [name, `Last ${name}`])),
  [CUSTOM]: 'From – to',
};

function RangeFilter({ route, range }: Pick<LogFiltersProps, 'route' | 'range'>): ComponentChildren {
  const change = (changes: Changes): void => navigate(withQuery(route, changes));
  const last = lastOf(route.query);
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
        value !== '' &&
        change({ ...absolute({ ...range, [edge]: Date.parse(value) / 1000 }), follow: undefined }),
    });
  return [
    h(Select, { label: 'Time range', value: last ?? CUSTOM, options: OFFERED_RANGES, choose }),
    last === undefined && [at('From', 'start'), at('To', 'end')],
  ];
}

const LEVELS = SEVERITIES.filter((severity) => severity !== 'none');

function countsOf({ histograms }: LogHistogram): Record<string, number> {
  const countOf = (level: Severity): number =>
    histograms.reduce((sum, { severities }) => sum + (severities?.[level] ?? 0), 0);
  return Object.fromEntries(LEVELS.map((level) => [level, countOf(level)]));
}

interface NameFilterProps {
  readonly label: string;
  readonly query: URLSearchParams;
  /** Parameters of exact names and of parts of names. */
  readonly exact: string;
  readonly part: string;
  /** The kinds whose names are offered. */
  readonly kinds: readonly string[];
  readonly change: (changes: Changes) => void;
}

/** It offers the names of the cluster; a text that is not one of them selects the names that contain it. */
function NameFilter({ label, query, exact, part, kinds, change }: NameFilterProps): ComponentChildren {
  const { client } = useExplore();
  const [offered, setOffered] = useState<readonly string[]>([]);
  const names = namesIn(query, exact);
  const chosen = [...names, ...namesIn(query, part)];
  const offer = async (): Promise<void> => {
    const namespaces = exact === 'namespaces' ? [] : namesIn(query, 'namespaces');
    const sent = { namespaces, limit: OFFERED_NAMES, sortBy: 'name', ascending: true };
    // Those that the user may not list can be typed.
    const pages = await Promise.allSettled(kinds.map((kind) => client.lists.page(kind, sent)));
    const items = pages.flatMap((page) => (page.status === 'fulfilled' ? page.value.items : []));
    setOffered([...new Set(items.map(({ metadata }) => metadata.name))]);
  };
  const apply = (text: string): void => {
    const known = new Set([...names, ...offered]);
    const typed = text.split(',').map((name) => name.trim());
    change({
      // The namespace of the frame is one of the names.
      ...(exact === 'namespaces' && { namespace: undefined }),
      [exact]: typed.filter((name) => known.has(name)).join(),
      [part]: typed.filter((name) => name !== '' && !known.has(name)).join(),
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
    offered: offered.filter((name) => !chosen.includes(name)).map((name) => [...chosen, name].join(', ')),
  });
}
