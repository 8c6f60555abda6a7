// The query of a list in the address of the page, and as parameters of the server.
import type { ListQuery } from 'ks-apiserver-client';
import type { Route } from '../route.ts';

export const PAGE_SIZES = [50, 200, 1_000, 10_000] as const;

/** Without facets and columns. */
export interface ShownQuery extends ListQuery {
  readonly page: number;
  readonly limit: number;
  readonly sortBy: string;
  readonly ascending: boolean;
}

/** A facet whose values are chips. */
export interface ListFacet {
  readonly title: string;
  /** As a parameter of the server. */
  readonly name: string;
  /** The parameters of the address and of the server that select values of the facet. */
  readonly parameter: string;
  readonly filter: keyof ListQuery;
}

/** `by`: the label key of a facet, if there is one. */
export function facetsOf(query: URLSearchParams): readonly ListFacet[] {
  const label = `label:${query.get('by') ?? ''}`;
  return [
    { title: 'Status', name: 'status', parameter: 'status', filter: 'status' },
    { title: 'Namespace', name: 'namespace', parameter: 'namespace', filter: 'namespaces' },
    { title: 'Label', name: label, parameter: 'value', filter: 'label' },
  ];
}

export function listQueryOf({ names: [resource = ''], query }: Route): ShownQuery {
  const text = (name: string): string | undefined => query.get(name) || undefined;
  const texts = (name: string): string[] | undefined => (query.has(name) ? query.getAll(name) : undefined);
  const isEvents = resource === 'events' || resource === 'events.events.k8s.io';
  const sortBy = text('sortBy') ?? (isEvents ? 'lastTimestamp' : 'name');
  return {
    sortBy,
    ascending: (text('ascending') ?? String(sortBy !== 'lastTimestamp')) === 'true',
    page: Math.max(1, Math.floor(Number(text('page'))) || 1),
    limit: PAGE_SIZES.find((size) => size === Number(text('limit'))) ?? PAGE_SIZES[0],
    q: text('q'),
    namespaces: texts('namespace'),
    status: texts('status'),
    labelSelector: text('labelSelector'),
    fieldSelector: text('fieldSelector'),
    ownerReference: text('ownerReference'),
    label: query.has('value') ? `${text('by') ?? ''} in (${query.getAll('value').join()})` : undefined,
  };
}
