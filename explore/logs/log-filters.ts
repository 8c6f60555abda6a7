// The filters of the view: text, names, levels and the time range. All of them are in the address.
import { type Client, type LogHistogram, StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { type Changes, type LogsRoute, navigate, withQuery } from '../route.ts';
import { Select } from '../ui/select.ts';
import { absolute, clockOf, LEVELS, lastOf, MATCHES, namesIn, RANGES, type TimeRange } from './log-query.ts';
import { NameFilter } from './name-filter.ts';

interface FilterProps {
  readonly route: LogsRoute;
  readonly change: (changes: Changes) => void;
  readonly error: Error | undefined;
}

export interface LogFiltersProps extends Omit<FilterProps, 'change'> {
  readonly range: TimeRange;
  readonly histogram: LogHistogram | undefined;
  /** Names of the containers of the shown lines. */
  readonly containers: () => Iterable<string>;
}

const WORKLOADS = ['deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch'];

export function LogFilters(props: LogFiltersProps): ComponentChildren {
  const { route, range, histogram, containers, error } = props;
  const { client } = useExplore();
  const { query } = route;
  const change = (changes: Changes): void => navigate(withQuery(route, changes));
  const namespaces = namesIn(query, 'namespaces');
  const names = (label: string, name: string, offer: () => Promise<Iterable<string>>) =>
    h(NameFilter, { label, query, exact: `${name}s`, part: `${name}_query`, offer, change });
  return h('section', { class: 'log-filters', 'aria-label': 'Filters' }, [
    h('div', { class: 'log-row' }, [
      h(TextFilter, { route, change, error }),
      h(RangeFilter, { route, range, change, error }),
    ]),
    h('div', { class: 'log-row names' }, [
      names('Namespaces', 'namespace', () => namesOf(client, ['namespaces'], [])),
      names('Workloads', 'workload', () => namesOf(client, WORKLOADS, namespaces)),
      names('Pods', 'pod', () => namesOf(client, ['pods'], namespaces)),
      names('Containers', 'container', async () => containers()),
    ]),
    h(Levels, { query, histogram, change }),
  ]);
}

/** The names of the kinds that the user may list. */
async function namesOf(client: Client, kinds: string[], namespaces: readonly string[]): Promise<string[]> {
  const scope = namespaces.length > 0 ? { namespaces } : {};
  const query = { limit: 300, sortBy: 'name', ascending: true, ...scope } as const;
  const pages = await Promise.allSettled(kinds.map((kind) => client.lists.page(kind, query)));
  const found = pages.flatMap((page) => (page.status === 'fulfilled' ? page.value.items : []));
  return found.map(({ metadata: { name } }) => name);
}

/** Time without a key in ms after which the text filters. */
const DELAY_MS = 300;

function TextFilter({ route, change, error }: FilterProps): ComponentChildren {
  const { query } = route;
  const known = query.get('log_query') ?? '';
  const [text, setText] = useState(known);
  useEffect(() => setText(known), [known]);
  // Other filters can change before the text applies.
  const latest = useRef(route);
  latest.current = route;
  const apply = (): void => navigate(withQuery(latest.current, { log_query: text }), { replace: true });
  useEffect(() => {
    if (text === known) return undefined;
    const timer = setTimeout(apply, DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const message = messageAt(error, TEXT_FIELDS);
  const isCase = query.get('case') === 'respect';
  return h('div', { class: 'log-row text-search' }, [
    h('input', {
      ...{ type: 'search', 'aria-label': 'Text of the line', placeholder: 'Search in lines' },
      ...{ value: text, maxLength: 1000, spellcheck: false, autocomplete: 'off' },
      ...{ 'aria-invalid': message !== '', 'aria-describedby': 'text-error' },
      onInput: ({ currentTarget }) => setText(currentTarget.value),
      onKeyDown: ({ key }) => key === 'Enter' && apply(),
    }),
    h(Select, {
      ...{ label: 'Match', value: query.get('match') ?? 'prefix', options: MATCHES },
      choose: (match) => change({ match }),
    }),
    h(
      'button',
      {
        ...{ class: 'chip', 'aria-pressed': isCase, 'aria-label': 'Match case' },
        title: 'Match upper and lower case',
        onClick: () => change({ case: isCase ? undefined : 'respect' }),
      },
      'Aa',
    ),
    h('span', { id: 'text-error', class: 'field-error', role: 'status' }, message),
  ]);
}

const CUSTOM = 'custom';
const OFFERED_RANGES = {
  ...Object.fromEntries(Object.keys(RANGES).map((name) => [name, `Last ${name}`])),
  [CUSTOM]: 'From – to',
};

interface RangeFilterProps extends FilterProps {
  readonly range: TimeRange;
}

function RangeFilter({ route, range, change, error }: RangeFilterProps): ComponentChildren {
  const last = lastOf(route.query);
  const at = (label: string, seconds: number, rangeOf: (seconds: number) => TimeRange): ComponentChildren =>
    h('input', {
      ...{ 'aria-label': label, type: 'datetime-local', step: 1 },
      value: clockOf(seconds * 1000, { date: true }).replace(' ', 'T'),
      onChange: ({ currentTarget: { value } }) => {
        const chosen = new Date(value).getTime() / 1000;
        if (chosen >= 0) change({ ...absolute(rangeOf(Math.floor(chosen))), follow: undefined });
      },
    });
  const choose = (value: string): void =>
    change(value === CUSTOM ? absolute(range) : { last: value, start_time: undefined, end_time: undefined });
  return h('div', { class: 'log-row' }, [
    h(Select, { label: 'Time range', value: last ?? CUSTOM, options: OFFERED_RANGES, choose }),
    last === undefined && [
      at('From', range.start, (start) => ({ start, end: range.end })),
      at('To', range.end, (end) => ({ start: Math.min(range.start, end), end })),
    ],
    h('span', { class: 'field-error', role: 'status' }, messageAt(error, RANGE_FIELDS)),
  ]);
}

interface LevelsProps extends Pick<FilterProps, 'change'> {
  readonly query: URLSearchParams;
  readonly histogram: LogHistogram | undefined;
}

function Levels({ query, histogram, change }: LevelsProps): ComponentChildren {
  const chosen = namesIn(query, 'level');
  return h('div', { class: 'log-row', role: 'group', 'aria-label': 'Levels' }, [
    LEVELS.map((level) => {
      const isChosen = chosen.includes(level);
      const next = isChosen ? chosen.filter((each) => each !== level) : [...chosen, level];
      const counts = histogram?.histograms.map(({ severities }) => severities?.[level] ?? 0);
      return h(
        'button',
        { class: 'chip', 'aria-pressed': isChosen, onClick: () => change({ level: next.join(',') }) },
        [
          h('span', { class: 'level-mark', 'data-severity': level, 'aria-hidden': true }),
          level,
          h('span', { class: 'count' }, counts?.reduce((sum, count) => sum + count, 0).toLocaleString()),
        ],
      );
    }),
    chosen.length > 0 &&
      h('button', { class: 'quiet', onClick: () => change({ level: undefined }) }, 'All levels'),
  ]);
}

const TEXT_FIELDS = ['log_query', 'match', 'case'];
const RANGE_FIELDS = ['start_time', 'end_time', 'interval'];

/** Whether the filters show the error. */
export function isAtField(error: Error): boolean {
  return messageAt(error, [...TEXT_FIELDS, ...RANGE_FIELDS]) !== '';
}

/** The validation errors of the fields. */
function messageAt(error: Error | undefined, fields: readonly string[]): string {
  const causes = error instanceof StatusError ? error.causes : [];
  return causes
    .filter(({ field = '' }) => fields.includes(field))
    .map(({ message }) => message)
    .join(', ');
}
