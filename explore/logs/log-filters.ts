// The filters of the view: text, names, levels and the time range. All of them are in the address.
import { type Client, type LogHistogram, StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h, type TargetedEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { type Changes, type LogsRoute, navigate, withQuery } from '../route.ts';
import { NAMES } from './histogram.ts';
import { absolute, clockOf, LEVELS, lastOf, MATCHES, namesIn, RANGES, type TimeRange } from './log-query.ts';
import { NameFilter } from './name-filter.ts';

export interface LogFiltersProps {
  readonly route: LogsRoute;
  readonly range: TimeRange;
  readonly histogram: LogHistogram | undefined;
  /** Names of the containers of the shown lines. */
  readonly containers: () => readonly string[];
  readonly error: Error | undefined;
}

/** Time without a key in ms after which the text filters. */
const DELAY_MS = 300;

export function LogFilters({
  route,
  range,
  histogram,
  containers,
  error,
}: LogFiltersProps): ComponentChildren {
  const { client } = useExplore();
  const { query } = route;
  const change = (changes: Changes): void => navigate(withQuery(route, changes));
  const namespaces = namesIn(query, 'namespaces');
  const names = (label: string, exact: string, part: string, offer: () => Promise<readonly string[]>) =>
    h(NameFilter, { label, query, exact, part, offer, change });
  const listed =
    (...resources: string[]) =>
    () =>
      namesOf(client, resources, namespaces);
  return h('section', { class: 'log-filters', 'aria-label': 'Filters' }, [
    h('div', { class: 'log-row' }, [
      h(TextFilter, { route, error }),
      h(RangeFilter, { route, range, error }),
    ]),
    h('div', { class: 'log-row names' }, [
      names('Namespaces', 'namespaces', 'namespace_query', () => namesOf(client, ['namespaces'], [])),
      names(
        'Workloads',
        'workloads',
        'workload_query',
        listed('deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch'),
      ),
      names('Pods', 'pods', 'pod_query', listed('pods')),
      names('Containers', 'containers', 'container_query', async () => containers()),
    ]),
    h(Levels, { query, histogram, change }),
  ]);
}

const OFFERED = 300;

/** The names of the kinds that the user may list. */
async function namesOf(
  client: Client,
  resources: readonly string[],
  namespaces: readonly string[],
): Promise<string[]> {
  const query = { limit: OFFERED, sortBy: 'name', ascending: true } as const;
  const [only, ...others] = namespaces;
  const scope = only !== undefined && others.length === 0 ? { namespace: only } : {};
  const pages = await Promise.allSettled(
    resources.map((each) => client.lists.page(each, { ...query, ...scope })),
  );
  const found = pages.flatMap((page) => (page.status === 'fulfilled' ? page.value.items : []));
  return [...new Set(found.map(({ metadata: { name } }) => name))];
}

interface TextFilterProps {
  readonly route: LogsRoute;
  readonly error: Error | undefined;
}

function TextFilter({ route, error }: TextFilterProps): ComponentChildren {
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
  return h('div', { class: 'text-search' }, [
    h('input', {
      ...{
        type: 'search',
        'aria-label': 'Text of the line',
        placeholder: 'Search in lines',
        value: text,
        maxLength: 1000,
      },
      ...{
        spellcheck: false,
        autocomplete: 'off',
        'aria-invalid': message !== '',
        'aria-describedby': 'text-error',
      },
      onInput: (event) => setText(event.currentTarget.value),
      onKeyDown: (event) => {
        if (event.key === 'Enter') apply();
      },
    }),
    h(
      'select',
      {
        ...{ 'aria-label': 'Match', value: query.get('match') ?? 'prefix' },
        onChange: (event: TargetedEvent<HTMLSelectElement>) =>
          navigate(withQuery(route, { match: event.currentTarget.value })),
      },
      Object.entries(MATCHES).map(([value, label]) => h('option', { key: value, value }, label)),
    ),
    h(
      'button',
      {
        ...{ type: 'button', class: 'chip', 'aria-pressed': isCase, title: 'Match upper and lower case' },
        'aria-label': 'Match case',
        onClick: () => navigate(withQuery(route, { case: isCase ? undefined : 'respect' })),
      },
      'Aa',
    ),
    h('span', { id: 'text-error', class: 'field-error', role: 'status' }, message),
  ]);
}

function RangeFilter({
  route,
  range,
  error,
}: TextFilterProps & { readonly range: TimeRange }): ComponentChildren {
  const last = lastOf(route.query);
  const change = (changes: Changes): void => navigate(withQuery(route, changes));
  const message = messageAt(error, RANGE_FIELDS);
  const at = (label: string, seconds: number, of: (seconds: number) => TimeRange): ComponentChildren =>
    h('label', {}, [
      h('span', { class: 'hidden-text' }, label),
      h('input', {
        ...{
          type: 'datetime-local',
          step: 1,
          value: clockOf(seconds * 1000, { date: true }).replace(' ', 'T'),
        },
        onChange: (event) => {
          const chosen = new Date(event.currentTarget.value).getTime() / 1000;
          if (chosen >= 0) change({ ...absolute(of(Math.floor(chosen))), follow: undefined });
        },
      }),
    ]);
  return h('div', { class: 'range' }, [
    h(
      'select',
      {
        ...{ 'aria-label': 'Time range', value: last ?? 'custom' },
        onChange: ({ currentTarget: { value } }: TargetedEvent<HTMLSelectElement>) =>
          change(
            value === 'custom'
              ? absolute(range)
              : { last: value, start_time: undefined, end_time: undefined },
          ),
      },
      [
        ...Object.keys(RANGES).map((value) => h('option', { key: value, value }, `Last ${value}`)),
        h('option', { value: 'custom' }, 'From – to'),
      ],
    ),
    last === undefined && [
      at('From', range.start, (start) => ({ start, end: Math.max(start, range.end) })),
      at('To', range.end, (end) => ({ start: Math.min(range.start, end), end })),
    ],
    h('span', { class: 'field-error', role: 'status' }, message),
  ]);
}

interface LevelsProps {
  readonly query: URLSearchParams;
  readonly histogram: LogHistogram | undefined;
  readonly change: (changes: Changes) => void;
}

function Levels({ query, histogram, change }: LevelsProps): ComponentChildren {
  const chosen = namesIn(query, 'level');
  return h('div', { class: 'levels', role: 'group', 'aria-label': 'Levels' }, [
    ...LEVELS.map((level) => {
      const isChosen = chosen.includes(level);
      const rest = isChosen ? chosen.filter((each) => each !== level) : [...chosen, level];
      const count = histogram?.histograms.reduce(
        (sum, { severities }) => sum + (severities?.[level] ?? 0),
        0,
      );
      return h(
        'button',
        {
          ...{ key: level, type: 'button', class: 'chip', 'aria-pressed': isChosen },
          onClick: () => change({ level: rest.join(',') }),
        },
        [
          h('span', { class: `level-mark severity-${level}`, 'aria-hidden': true }),
          NAMES[level],
          h('span', { class: 'count' }, count === undefined ? '' : count.toLocaleString()),
        ],
      );
    }),
    chosen.length > 0 &&
      h(
        'button',
        { type: 'button', class: 'quiet', onClick: () => change({ level: undefined }) },
        'All levels',
      ),
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
