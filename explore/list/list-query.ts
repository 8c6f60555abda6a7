// The query of a list in the address of the page, and as parameters of the server.
import type { ListQuery } from 'ks-apiserver-client';
import type { Changes, ListRoute } from '../route.ts';

export const PAGE_SIZES = [50, 200, 1_000, 10_000] as const;

export interface ShownQuery {
  /** Without facets and columns. */
  readonly list: ListQuery;
  readonly page: number;
  readonly limit: number;
  readonly sortBy: string;
  readonly isAscending: boolean;
  /** The label key of a facet; empty for none. */
  readonly labelKey: string;
  readonly isWide: boolean;
  /** True if something selects objects. */
  readonly isFiltered: boolean;
}

/** Names of the parameters that select objects, in the address. */
const FILTERS = ['q', 'namespace', 'status', 'value', 'labelSelector', 'fieldSelector', 'ownerReference'];
/** The parameters that remove all filters. */
export const NO_FILTERS: Changes = Object.fromEntries([...FILTERS, 'page'].map((name) => [name, undefined]));

export function queryOf({ resource, query }: ListRoute): ShownQuery {
  const text = (name: string): string | undefined => query.get(name) || undefined;
  const texts = (name: string): string[] | undefined => (query.has(name) ? query.getAll(name) : undefined);
  const isEvents = resource === 'events' || resource === 'events.events.k8s.io';
  const sortBy = text('sortBy') ?? (isEvents ? 'lastTimestamp' : 'name');
  const isAscending = query.has('ascending') ? query.get('ascending') === 'true' : sortBy !== 'lastTimestamp';
  const limit = PAGE_SIZES.find((size) => size === Number(text('limit'))) ?? PAGE_SIZES[0];
  const page = Math.max(1, Math.floor(Number(text('page'))) || 1);
  const labelKey = text('by') ?? '';
  return {
    list: {
      ...{ page, limit, sortBy, ascending: isAscending, q: text('q') },
      ...{ namespaces: texts('namespace'), status: texts('status') },
      ...{ labelSelector: text('labelSelector'), fieldSelector: text('fieldSelector') },
      ownerReference: text('ownerReference'),
      label: query.has('value') ? `${labelKey} in (${query.getAll('value').join(',')})` : undefined,
    },
    ...{ page, limit, sortBy, isAscending, labelKey, isWide: query.has('wide') },
    isFiltered: FILTERS.some((name) => query.has(name)),
  };
}

/** The parameters of the address that sort by a column: in its usual direction first, then in the other one. */
export function sortedBy({ sortBy, isAscending }: ShownQuery, sortKey: string, isNumber: boolean): Changes {
  const next = sortBy === sortKey ? !isAscending : !isNumber;
  return { sortBy: sortKey, ascending: String(next), page: undefined };
}
