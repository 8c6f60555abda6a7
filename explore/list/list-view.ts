// The view of the objects of one kind: filters, a live table, and pages.
import { StatusError } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { titleOf } from '../kinds.ts';
import { type ListRoute, navigate, withQuery } from '../route.ts';
import { LiveState } from '../ui/live-state.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { Toggle } from '../ui/toggle.ts';
import { ListFilters } from './list-filters.ts';
import { NO_FILTERS, queryOf, type ShownQuery } from './list-query.ts';
import type { Rows } from './list-rows.ts';
import { ListTable } from './list-table.ts';
import { Pager } from './pager.ts';
import { useList, useOtherFacets } from './use-list.ts';

export function ListView({ route }: { readonly route: ListRoute }): ComponentChildren {
  const { resource, query } = route;
  const { kinds } = useExplore();
  const [isPaused, pause] = useState(false);
  const shown = queryOf(route);
  const label = titleOf(resource, kinds);
  const labelFacet = shown.labelKey === '' ? [] : [`label:${shown.labelKey}`];
  const {
    value: list,
    isCurrent,
    connection,
    error,
    retry,
  } = useList(resource, { ...shown.list, facets: ['status', 'namespace', ...labelFacet] }, isPaused);
  const others = useOtherFacets(resource, shown.list, filteredFacets(route, shown), list);
  const toggleColumns = (): void =>
    navigate(withQuery(route, { wide: shown.isWide ? undefined : 'true' }), { replace: true });
  const isInvalid = error instanceof StatusError && error.code === 400;
  const isOwnError =
    isInvalid &&
    error.causes.every(({ field = '' }) => field.endsWith('Selector')) &&
    error.causes.length > 0;
  return h('div', { class: 'list-view' }, [
    h('div', { class: 'heading' }, [
      h('h1', { tabIndex: -1 }, label),
      h('code', { class: 'muted' }, resource),
      h('span', { class: 'fill' }),
      list?.columns.some(({ priority }) => priority > 0) &&
        h(Toggle, { isOn: shown.isWide, onClick: toggleColumns }, 'More columns'),
      h(LiveState, { connection, error, isPaused, pause }),
    ]),
    // Nothing can be filtered without a permission, or if the kind is not served.
    (list || !error || isInvalid) &&
      h(ListFilters, {
        ...{ route, shown, error, labelKeys: list?.labelKeys ?? [] },
        facets: { ...list?.facets, ...others },
      }),
    list?.isPartial && h(Notice, { tone: 'info' }, partialText(list)),
    error && !isOwnError && h(Failure, { error, retry }),
    list && list.total > 0
      ? h(ListTable, {
          ...{ route, shown, list, label, page: `${resource}?${query}` },
          isBusy: !isCurrent,
        })
      : list && !error && h(Empty, { route, shown, label, list }),
    !list && !error && h('p', { class: 'muted', role: 'status' }, `Loading ${label}…`),
    list && list.total > 0 && h(Pager, { route, shown, total: list.total }),
  ]);
}

/** The facets that filter, each with its parameter of the server. */
function filteredFacets(
  { query }: ListRoute,
  { labelKey }: ShownQuery,
): Record<string, 'status' | 'namespaces' | 'label'> {
  return {
    ...(query.has('status') ? { status: 'status' } : {}),
    ...(query.has('namespace') ? { namespace: 'namespaces' } : {}),
    ...(query.has('value') ? { [`label:${labelKey}`]: 'label' } : {}),
  };
}

function partialText({ facets }: Rows): string {
  const count = Object.keys(facets['namespace'] ?? {}).length;
  const namespaces = count === 0 ? 'the namespaces' : count === 1 ? '1 namespace' : `${count} namespaces`;
  return `Objects of ${namespaces} that you may list. You have no permission for the others.`;
}

interface EmptyProps {
  readonly route: ListRoute;
  readonly shown: ShownQuery;
  readonly label: string;
  readonly list: Rows;
}

function Empty({ route, shown, label, list }: EmptyProps): ComponentChildren {
  const clear = ['Clear filters', () => navigate(withQuery(route, NO_FILTERS))] as const;
  if (shown.isFiltered) return h(Notice, { tone: 'idle', action: clear }, `No ${label} match the filters.`);
  const where = list.isPartial ? 'in the namespaces that you may list' : 'in the cluster';
  return h(Notice, { tone: 'idle' }, `There are no ${label} ${where}.`);
}
