// Translates the parameters and words of KubeSphere consoles into those of lists, before a query is decoded. Lists
// have only their own words. docs/kubesphere-consoles.md documents the translation.
import { newInvalidParameter } from '../../apis/meta/v1/errors.ts';
import { exactName, type Kind } from '../resources/kind.ts';
import type { KindProfile } from '../resources/kind-profile.ts';
import type { ListFilter } from '../resources/lists/list-filter.ts';
import type { ObjectFacts } from '../resources/object-facts.ts';

interface ConsoleQuery<Facts> {
  /** The query in the words of lists. */
  readonly query: URLSearchParams;
  /** The filters that have no equal parameter of lists. */
  readonly filters: readonly ListFilter<Facts>[];
  /** Name of a Service: the list has only the pods that it selects. */
  readonly service: string | undefined;
}

type Words = Readonly<Record<string, readonly string[]>>;

const WORKLOAD: Words = { running: ['available'], updating: ['progressing', 'degraded', 'terminating'] };

/** The statuses of each word of a console, by kind. */
const STATUSES: Readonly<Record<string, Words>> = {
  'deployments.apps': WORKLOAD,
  'statefulsets.apps': WORKLOAD,
  'daemonsets.apps': WORKLOAD,
  'jobs.batch': {
    running: ['Running', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet', 'Terminating'],
    completed: ['Complete'],
    failed: ['Failed'],
  },
  'cronjobs.batch': { running: ['Active', 'Terminating'], paused: ['Suspended'] },
  persistentvolumeclaims: { bound: ['Bound'], lost: ['Lost'], pending: ['Pending'] },
  persistentvolumes: {
    available: ['Available'],
    bound: ['Bound'],
    released: ['Released'],
    failed: ['Failed'],
  },
};

/** The sort key of a console that means the time of creation, by kind. */
const SORT_KEYS: Readonly<Record<string, string>> = {
  pods: 'startTime',
  'statefulsets.apps': 'updateTime',
  'daemonsets.apps': 'updateTime',
  'cronjobs.batch': 'updateTime',
};

const PODS = 'pods';
const SERVICE_NAME = 'serviceName';
/** Filters of pods by a field: an equal value, or a part of it. */
const POD_FIELDS: Readonly<Record<string, { readonly field: string; readonly isPart?: true }>> = {
  nodeName: { field: 'spec.nodeName' },
  phase: { field: 'status.phase' },
  podIP: { field: 'status.podIP', isPart: true },
};

/** The sort keys that consoles send by default. */
const CONSOLE_SORT_KEYS: ReadonlySet<string> = new Set(['createTime', 'startTime']);

/** The words of a console for pods, with the statuses of each; `Waiting` has all other statuses. */
const POD_WORDS = [
  ['Running', /^Running$/],
  ['Completed', /^(?:Completed|Succeeded)$/],
  ['Error', /^(?:Error|Failed|OutOf.*)$/],
  ['Waiting', /^/],
] as const;

/** Matches each query that `translated` could change. */
export const CONSOLE_WORDS = /(?:^|&)(?:status|nodeName|phase|podIP|serviceName)=|=(?:start|update)Time/;

/** Throws BadRequest for a repeated parameter of consoles. */
export function translated<Facts extends ObjectFacts>(
  kind: Kind,
  given: URLSearchParams,
  { fields }: Pick<KindProfile<Facts>, 'fields'>,
): ConsoleQuery<Facts> {
  const query = new URLSearchParams(given);
  if (kind.custom) return { query, filters: [], service: undefined };
  const name = exactName(kind);
  const words = Object.hasOwn(STATUSES, name) ? STATUSES[name] : undefined;
  if (words) replaceStatuses(query, words);
  const sortKeys = query.getAll('sortBy');
  if (sortKeys.length === 1 && Object.hasOwn(SORT_KEYS, name) && sortKeys[0] === SORT_KEYS[name])
    query.set('sortBy', 'creationTimestamp');
  if (name !== PODS) return { query, filters: [], service: undefined };
  const filters: ListFilter<Facts>[] = [];
  for (const [parameter, { field, isPart }] of Object.entries(POD_FIELDS)) {
    const value = taken(query, parameter);
    const read = fields[field];
    if (value === undefined || !read) continue;
    filters.push({
      key: JSON.stringify([parameter, value]),
      test: (pod) => (isPart ? read(pod).includes(value) : read(pod) === value),
    });
  }
  const fromConsole = sortKeys.some((key) => CONSOLE_SORT_KEYS.has(key));
  const statuses = podStatusFilter<Facts>(query, fromConsole);
  return { query, filters: statuses ? [...filters, statuses] : filters, service: taken(query, SERVICE_NAME) };
}

/** Removes a parameter and returns its value; undefined without a value. */
function taken(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) {
    const message = `is given ${values.length} times, but has one value`;
    throw newInvalidParameter(name, message, { reason: 'FieldValueDuplicate' });
  }
  query.delete(name);
  return values[0] || undefined;
}

function replaceStatuses(query: URLSearchParams, words: Words): void {
  if (query.getAll('status').length !== 1) return;
  const statuses = statusesIn(query);
  query.set(
    'status',
    statuses.flatMap((one) => (Object.hasOwn(words, one) ? (words[one] ?? []) : [one])).join(),
  );
}

function statusesIn(query: URLSearchParams): readonly string[] {
  return (query.get('status') ?? '').split(',').map((status) => status.trim());
}

/**
 * Removes a status that includes a word of consoles, and returns the filter for it. `Completed` and `Error` are words of kubectl
 * too, so they have the meaning of consoles only in a query with a sort key of consoles, or with `Waiting`.
 */
function podStatusFilter<Facts extends ObjectFacts>(
  query: URLSearchParams,
  fromConsole: boolean,
): ListFilter<Facts> | undefined {
  if (query.getAll('status').length !== 1) return undefined;
  const wanted = new Set(statusesIn(query));
  if (!wanted.has('Waiting') && !(fromConsole && POD_WORDS.some(([word]) => wanted.has(word))))
    return undefined;
  query.delete('status');
  const isWanted = (status: string): boolean => {
    const word = POD_WORDS.find(([, statuses]) => statuses.test(status))?.[0] ?? '';
    return wanted.has(status) || wanted.has(word);
  };
  return {
    key: JSON.stringify(['status', ...wanted]),
    test: ({ facts: { status } }) => status.some(isWanted),
  };
}
